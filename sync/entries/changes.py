"""Entries that change an existing message: edits, reactions, redactions (PROTOCOL 2).

Rules:
1. A change names its target in its body and among its parents; otherwise it has no effect. But a
   redaction that does not name another change among its parents takes that back (`TakenBack`).
2. Of an author's edits and redactions of one message the highest (lamport, id) counts, and only if
   the message is theirs. Of an author's reactions to one message likewise: each names them all.
   In a governed channel an admin's redaction of somebody else's message counts too, beside those:
   whoever may do so at the cut that it names hides it, whatever its author writes.
3. A change without effect, whatever is wrong with it, is an entry like every other: kept, relayed.
   So nothing here ever refuses an entry, and the order of arrival changes no look.
"""

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from google.protobuf.message import DecodeError as ProtobufDecodeError
from msgspec import Struct
from msgspec.structs import replace

from sync.entries.entry import HASH_SIZE, TEXT_MAX, Entry, Kind, decode_text, encode_text
from sync.entries.replies import answered_by
from sync.errors import DecodeError, LocalError
from sync.machine import MessageId, PeerId

CHANGING: Final = frozenset({Kind.EDIT, Kind.REACTION, Kind.REDACTION})
"""Kinds of entries that are no lines themselves."""

EMOJI_MAX: Final = 16
"""Characters of one reaction: the longest emoji, a family of skin tones, is a sequence of 11."""

EMOJIS_MAX: Final = 8
"""Reactions of one author to one message: more would push the text it belongs to off the screen."""

REACTORS_MAX: Final = 200
"""Authors whose reactions to one message are told, the first by key, and ourselves: all of them are
read, and shown, again for each further one, which a flood of made-up authors can send by thousands.
"""

MORE_REACTORS_MAX: Final = 1000
"""Authors beyond those who are counted; of more it is said that there are so many."""

NOT_HERE: Final = (
    "That message is not in this channel here, or still on its way: name another one, or wait."
)

_PRINTABLE_FROM: Final = "!"
_DELETE: Final = "\x7f"


class Edit(Struct, frozen=True):
    """Another text in place of the target's."""

    target: MessageId
    text: str


class Reactions(Struct, frozen=True):
    """All reactions of the author to the target: none, if they were taken back."""

    target: MessageId
    emojis: tuple[str, ...]


class Redaction(Struct, frozen=True):
    """The target is hidden."""

    target: MessageId


Change: TypeAlias = Edit | Reactions | Redaction


class Replacement(Struct, frozen=True):
    """A text stands for the target, which its author had written with a clock far ahead.

    It is a line itself, with an earlier Lamport time than the target's, which it does not name
    among its parents: where the target is set aside, or is not at all, nobody misses it.
    """

    target: MessageId


class TakenBack(Struct, frozen=True):
    """The target, a change of the same author with a later Lamport time, has no effect.

    So a change that a clock far ahead had stamped does not win again once its time comes. It is no
    parent either; a version that does not know this takes no notice.
    """

    target: MessageId


class Anew(Struct, frozen=True):
    """An entry to write: it says again, or takes back, what was stamped with a wrong clock."""

    kind: int
    body: bytes
    about: MessageId | None = None
    """The message that it has to name among its parents."""
    replaces: MessageId | None = None
    """The message that it stands for, or takes back."""


REPLACES: Final = b"\x1a\x20"
"""Bytes before the id in the body of a text that replaces another; few others have them."""


class Look(Struct, frozen=True):
    """Combined effect of all changes on a message."""

    text: str | None = None
    """The text it was edited to."""
    deleted: bool = False
    reactions: tuple[tuple[PeerId, tuple[str, ...]], ...] = ()
    """Reactions by author."""
    more_reactors: int = 0
    """Further authors who react, counted up to `MORE_REACTORS_MAX`."""
    replaced: bool = False
    """Whether its author wrote it anew."""
    hidden_by: PeerId | None = None
    """The admin who has hidden it, of several the first; None if none has."""

    @property
    def hidden(self) -> bool:
        """True if nothing of the message is shown."""
        return self.deleted or self.replaced or self.hidden_by is not None

    @property
    def reacted(self) -> tuple[object, int]:
        """All that is told of reactions."""
        return (self.reactions, self.more_reactors)


UNCHANGED: Final = Look()


def kind_of(change: Change) -> Kind:
    """Return the kind of the entry that carries a change."""
    match change:
        case Edit():
            return Kind.EDIT
        case Reactions():
            return Kind.REACTION
        case Redaction():
            return Kind.REDACTION


def encode(change: Change) -> bytes:
    """Return the body of an edit, a reaction or a redaction.

    Raises:
        LocalError: over a limit, or nothing that can be shown; the sentence says what to do.
    """
    from proto import entry_pb2  # noqa: PLC0415  # a first paint needs no protobuf

    target = bytes.fromhex(change.target)
    try:
        match change:
            case Edit(_, text):
                _check_text(text)
                body = entry_pb2.EditBody(target=target, text=text)
                return body.SerializeToString(deterministic=True)
            case Reactions(_, emojis):
                _check_emojis(emojis)
                chosen = entry_pb2.ReactionBody(target=target, emojis=sorted(set(emojis)))
                return chosen.SerializeToString(deterministic=True)
            case Redaction():
                return entry_pb2.RedactionBody(target=target).SerializeToString(deterministic=True)
    except (UnicodeEncodeError, ValueError) as error:
        raise LocalError("That has characters that are not valid Unicode.") from error


def decode(kind: int, body: bytes) -> Change:
    """Parse the body of an entry of one of the `CHANGING` kinds.

    Raises:
        DecodeError: not such a body, not in its only form, or over a limit.
    """
    try:
        change = _parsed(kind, body)
        canonical = encode(change)
    except (ProtobufDecodeError, LocalError) as error:
        raise DecodeError(f"not a change of a message: {error}") from error
    if canonical != body:
        raise DecodeError("the change is not in its canonical form")
    return change


def change_of(entry: Entry) -> Change | None:
    """Return what an entry changes; None if it is a line, or has no effect whatever it is about."""
    if entry.header.kind not in CHANGING:
        return None
    try:
        change = decode(entry.header.kind, entry.body)
    except DecodeError:
        return None
    named = any(parent.message_id == change.target for parent in entry.header.parents)
    return change if named else None


def touched_by(entry: Entry) -> Change | Replacement | TakenBack | None:
    """Return what an entry does to another one: changes it, stands for it, or takes it back."""
    if entry.header.kind == Kind.TEXT:
        replaces = replaced_in(Kind.TEXT, entry.body)
        return None if replaces is None else Replacement(replaces)
    change = change_of(entry)
    if change is None and entry.header.kind == Kind.REDACTION:
        return _taken_back_by(entry)
    return change


def may_touch(kind: int, body: bytes) -> bool:
    """Return whether `touched_by` may have something to say of an entry: seldom, at 0.1 us."""
    return kind in CHANGING or (kind == Kind.TEXT and REPLACES in body)


def _taken_back_by(entry: Entry) -> TakenBack | None:
    try:
        return TakenBack(decode(entry.header.kind, entry.body).target)
    except DecodeError:
        return None


def replaced_in(kind: int, body: bytes) -> MessageId | None:
    """Return what a text of this body replaces; nearly always nothing, which costs 0.1 us."""
    if REPLACES not in body or kind != Kind.TEXT:
        return None
    try:
        replaces = decode_text(body).replaces
    except DecodeError:
        return None
    return MessageId(replaces) if replaces else None


def anew(entry: Entry) -> list[Anew]:
    """Return what to write, in this order, to say again now what this entry says.

    A text says which one it stands for. A change stays as it is, and is then taken back.
    """
    kind, old = entry.header.kind, entry.message_id
    change = change_of(entry)
    if change is not None:
        back = Anew(Kind.REDACTION, encode(Redaction(old)), replaces=old)
        return [Anew(kind, entry.body, change.target), back]
    if kind != Kind.TEXT:
        return [Anew(kind, entry.body)]
    text = replace(decode_text(entry.body), replaces=old)
    return [Anew(kind, encode_text(text), answered_by(entry), old)]


def nobody_hides(_redaction: Entry) -> bool:
    """Return that a redaction is none of an admin, as in a channel that nobody governs."""
    return False


def look_of(
    target: Entry,
    entries: Iterable[Entry],
    hides: Callable[[Entry], bool] = nobody_hides,
    me: PeerId | None = None,
) -> Look:
    """Return what `target` looks like, all `entries` that may change it being delivered.

    Entries that take back any of these are among them. `hides` says whether the author of a
    redaction might hide lines of others at the cut that it names. The reactions of `me` are told
    however many others react.
    """
    wrote: Change | None = None
    others: dict[PeerId, Entry] = {}
    reacted: dict[PeerId, Reactions] = {}
    replaced = False
    touching = [(one, touch) for one in entries if (touch := touched_by(one)) is not None]
    back = {
        (one.header.author, touch.target, one.header.lamport)
        for one, touch in touching
        if isinstance(touch, TakenBack)
    }
    for entry, change in sorted(
        touching, key=lambda one: (one[0].header.lamport, one[0].message_id)
    ):
        if change.target != target.message_id or _is_taken_back(entry, back):
            continue
        if isinstance(change, Reactions):
            reacted[entry.header.author] = change
        elif entry.header.author != target.header.author:
            if isinstance(change, Edit | Redaction):
                others[entry.header.author] = entry
        elif isinstance(change, Replacement):
            replaced = replaced or entry.header.lamport < target.header.lamport
        elif not isinstance(change, TakenBack):
            wrote = change
    ranked = [(author, reacted[author]) for author in sorted(reacted)]
    told, others_too = ranked[:REACTORS_MAX], ranked[REACTORS_MAX:]
    own = [one for one in others_too if one[0] == me]
    more = [author for author, change in others_too[:MORE_REACTORS_MAX] if change.emojis]
    hiding = [
        (one.header.lamport, one.message_id, one.header.author)
        for one in others.values()
        if one.header.kind == Kind.REDACTION and hides(one)
    ]
    *_, hidden_by = min(hiding, default=(None,))
    return put_together(
        wrote,
        [*told, *own],
        more_reactors=len([author for author in more if author != me]),
        replaced=replaced,
        hidden_by=hidden_by,
    )


def _is_taken_back(entry: Entry, back: Iterable[tuple[PeerId, MessageId, int]]) -> bool:
    header = entry.header
    return any(
        (author, target) == (header.author, entry.message_id) and lamport < header.lamport
        for author, target, lamport in back
    )


def put_together(
    wrote: Change | None,
    reacted: Iterable[tuple[PeerId, Change]],
    *,
    more_reactors: int = 0,
    replaced: bool = False,
    hidden_by: PeerId | None = None,
) -> Look:
    """Return the look of a message, from the changes that count.

    Args:
        wrote: the edit or redaction of its author, if any.
        reacted: the reactions that are told, by author.
        more_reactors: how many authors react besides.
        replaced: whether a text of its author stands for it.
        hidden_by: the admin who has hidden it.
    """
    reactions = tuple(
        [(who, change.emojis) for who, change in reacted if isinstance(change, Reactions)]
    )
    return Look(
        text=wrote.text if isinstance(wrote, Edit) else None,
        deleted=isinstance(wrote, Redaction),
        reactions=tuple([one for one in reactions if one[1]]),
        more_reactors=more_reactors,
        replaced=replaced,
        hidden_by=hidden_by,
    )


def _parsed(kind: int, body: bytes) -> Change:
    from proto import entry_pb2  # noqa: PLC0415  # a first paint needs no protobuf

    match kind:
        case Kind.EDIT:
            edit = entry_pb2.EditBody.FromString(body)
            return Edit(_target(edit.target), edit.text)
        case Kind.REACTION:
            reaction = entry_pb2.ReactionBody.FromString(body)
            return Reactions(_target(reaction.target), tuple(reaction.emojis))
        case Kind.REDACTION:
            return Redaction(_target(entry_pb2.RedactionBody.FromString(body).target))
        case _:
            raise DecodeError(f"entries of kind {kind} change nothing")


def _target(value: bytes) -> MessageId:
    if len(value) != HASH_SIZE:
        raise DecodeError(f"target of {len(value)} bytes")
    return MessageId(value.hex())


def _check_text(text: str) -> None:
    if not text:
        raise LocalError("There is nothing left of the message: /delete hides it instead.")
    if len(text) > TEXT_MAX:
        raise LocalError(f"The message has {len(text)} characters, {TEXT_MAX} fit.")


def _check_emojis(emojis: tuple[str, ...]) -> None:
    """Check what every version of Unicode agrees on: all must come to the same verdict."""
    if len(emojis) > EMOJIS_MAX:
        raise LocalError(
            f"You react with {EMOJIS_MAX} emoji already, and no more fit; "
            "reacting with one of them again takes it back."
        )
    for emoji in emojis:
        if not 0 < len(emoji) <= EMOJI_MAX:
            raise LocalError(f"A reaction is one emoji, of {EMOJI_MAX} characters at most.")
        if any(sign < _PRINTABLE_FROM or sign == _DELETE for sign in emoji):
            raise LocalError("A reaction is one emoji, without spaces.")
