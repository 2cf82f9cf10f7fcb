"""Tickets of codes: a join that one signed is let in, and only with it."""

from sync.calimero.governance.governance import Refused
from sync.calimero.governance.ops import Invite, Role
from sync.calimero.governance.refusal import Refusal
from sync.calimero.governance.tickets import invitation, join_by, public_half
from tests.support.sync.governed import History, key, noise

SEED, OTHER = b"s" * 16, b"o" * 16


def test_who_has_the_seed_of_an_invitation_joins_and_nobody_else() -> None:
    history = History("alice")
    group = history.governance.group
    invite = history.act("alice", Invite(public_half(SEED), Role.READER))

    forged = join_by(OTHER, group, invite.id, key("bob"), noise("bob"), "bob")
    assert history.take(history.made("bob", forged)) == Refused(Refusal.TICKET)
    anothers = join_by(SEED, group, invite.id, key("carol"), noise("carol"), "carol")
    assert history.take(history.made("bob", anothers)) == Refused(Refusal.TICKET)

    history.act("bob", join_by(SEED, group, invite.id, key("bob"), noise("bob"), "bob"))
    assert history.governance.now.role(key("bob")) is Role.READER


def test_an_invitation_is_found_by_the_public_half_of_its_ticket() -> None:
    history = History("alice")
    invite = history.act("alice", Invite(public_half(SEED), Role.MEMBER))

    found = invitation(history.governance, public_half(SEED))
    assert found is not None
    assert found.id == invite.id
    assert invitation(history.governance, public_half(OTHER)) is None


def test_a_ticket_is_the_same_for_ever() -> None:
    assert public_half(SEED).hex() == (
        "c4cbe0526b5d8955ac5f043b44fc70cf5d4645caa1c564bb128119a40ee8ee0d"
    )
