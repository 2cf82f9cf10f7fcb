"""Bounds of a governed channel."""

from typing import Final

OP_SIZE_MAX: Final = 64 * 1024
"""Bytes of a signed op: a removal wraps a secret for each of 512 members in 29 kB."""

OPS_MAX: Final = 16_384
"""Ops of a channel: 32 for each of 512 members."""

OPS_FOR_ADMINS: Final = 4_096
"""Room that is kept for those who are owner or admin now."""

OPS_FOR_OWNERS: Final = 1_024
"""Of that for owners alone, so that no admin takes the room in which an owner removes them."""

OPS_OF_A_MEMBER_MAX: Final = 256
"""Ops that a signer below admin has room for; ancestors of others' ops are taken beyond it."""

MEMBERS_MAX: Final = 512
OWNERS_MAX: Final = 4
PARENTS_MAX: Final = 32
SEALS_MAX: Final = 64
"""Logs one removal seals; who has more is sealed by several removals."""

NAME_MAX: Final = 32
"""Characters of a channel's name and of a nick."""

REASON_MAX: Final = 200
"""Characters of a reason: one line of a wide screen."""

PROFILE_MAX: Final = 16
CHARACTER_SIZE_MAX: Final = 4
"""Bytes of a character in UTF-8."""

PREVIOUS_EPOCHS_MAX: Final = 32
"""Epochs that one wraps: those directly before it, one for each side of a cut."""

WAITING_MAX: Final = 1_000
"""Ops of a channel that wait for parents; the first that came goes first."""

REFUSED_REMEMBERED_MAX: Final = 1_024
"""Ids of refused ops that are known, so that what stands on them does not wait."""

STATES_CACHED: Final = 24
"""Cuts whose state is kept: each has a row for everybody who was ever in."""

EXTENSIONS_MAX: Final = 32
"""Ops by which a kept state is led further; beyond it, a state is made anew."""

FOLDS_CACHED: Final = 8_192
"""Results of folds that are kept until they are all let go: 512 members, 16 each."""

NUMBER_MAX: Final = 2**63 - 1
"""Numbers that a signed column of eight bytes holds."""

LAMPORT_STEP_MAX: Final = 2**44
"""Lead of an op's Lamport time over its parents': as milliseconds, 557 years. All ops of a channel
together come to no end of the numbers, so nobody can leave others without a later one."""

PAGE_SIZE_MAX: Final = 256 * 1024
"""Bytes of ops in one answer of a catch-up."""

HEADS_MAX: Final = 64
"""Heads that a heartbeat names; of more, half of them the newest, and half in turn."""

KNOWN_HEADS_MAX: Final = PAGE_SIZE_MAX // 32
"""Heads that a request names, the newest first: as many as fill a page. Of who has more, the peer
that is asked sends what is known already: 32 members together can sign so many at old cuts."""

WAITING_SIZE_MAX: Final = 8 * 1024 * 1024
"""Bytes of waiting ops: an honest op has a few hundred."""

PENDING_MAX: Final = 10_000
PENDING_OF_AN_AUTHOR_MAX: Final = 256
"""Entries that wait for governance; over the bounds the oldest of whoever has most is forgotten."""

PULLS_MAX: Final = 16
"""Finished pulls that did not bring what an entry waits for, before it is forgotten."""

ANSWERS_UNCHECKED_MAX: Final = 256
"""Answers that wait for the slow definition: a busy minute of new authors and cuts."""

OPS_COMPARED_MAX: Final = OPS_MAX
"""Ops of all channels together that the slow definition holds beside a running chat: 26 MB. Of
those that were asked about longest ago it is made anew."""
