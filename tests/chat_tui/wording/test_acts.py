"""Acts of governance in words, and why one came to nothing."""

import pytest
from msgspec.structs import replace

from chat_tui.wording.acts import policy, sentence
from sync.entries.identity import short_fingerprint
from sync.view.governance_infos import (
    Access,
    ActInfo,
    ActKind,
    BecauseInfo,
    LossInfo,
    Person,
    Reason,
    Role,
)
from sync.view.view import Line
from tests.support.chat_tui.conversations import line, peer

ALICE, BOB, CAROL, MALLORY = (
    Person(peer(one), one) for one in ("alice", "bob", "carol", "mallory")
)


def act(kind: ActKind, *people: Person, by: str = "alice", **more: object) -> Line:
    return replace(line(1, author=by), text="", act=ActInfo(kind, people, **more))  # type: ignore[arg-type]


def lost(shown: Line, reason: Reason, because: BecauseInfo | None = None) -> str:
    assert shown.act is not None
    return sentence(replace(shown, act=replace(shown.act, loss=LossInfo(reason, because))))


def did(
    kind: ActKind, *people: Person, by: Person = ALICE, role: Role | None = None
) -> BecauseInfo:
    return BecauseInfo("aa", kind, by, people, role)


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (act(ActKind.FOUNDED, name="friends"), "alice founded #friends"),
        (act(ActKind.INVITED, role=Role.MEMBER), "alice gave out a code that lets in members"),
        (act(ActKind.INVITED, role=Role.READER), "alice gave out a code that lets in readers"),
        (act(ActKind.REVOKED, BOB), "alice ended a code of bob"),
        (
            act(ActKind.JOINED, BOB, by="carol", role=Role.MEMBER),
            "carol joined by a code of bob",
        ),
        (
            act(ActKind.JOINED, BOB, by="carol", role=Role.READER),
            "carol joined by a code of bob as a reader",
        ),
        (
            act(ActKind.ASKED, BOB, by="carol", role=Role.MEMBER),
            "carol, who was removed, asks to be let in again",
        ),
        (act(ActKind.ADDED, BOB, role=Role.MEMBER), "alice added bob"),
        (act(ActKind.ADDED, BOB, role=Role.ADMIN), "alice added bob as an admin"),
        (act(ActKind.REMOVED, MALLORY, reason="spam"), "alice removed mallory: spam"),
        (act(ActKind.REMOVED, MALLORY, BOB, CAROL), "alice removed mallory, bob and carol"),
        (act(ActKind.LEFT, by="bob"), "bob left"),
        (act(ActKind.ROLE, BOB, role=Role.READER), "alice made bob a reader"),
        (
            act(ActKind.POLICY, policy=(("write", Access.ADMINS),)),
            "alice let only admins write",
        ),
        (act(ActKind.ROTATED), "alice changed the secret and ended all codes"),
    ],
)
def test_an_act_says_who_did_what_to_whom(shown: Line, said: str) -> None:
    assert sentence(shown) == said


def test_a_policy_says_who_may_what_from_now_on() -> None:
    fields = (
        ("write", Access.ADMINS),
        ("invite", Access.MEMBERS),
        ("topic", Access.ADMINS),
        ("pins", Access.ADMINS),
    )

    assert policy(fields) == "let only admins write, set the topic and pin, and members invite"


def test_what_came_to_nothing_says_for_what_and_what_to_do() -> None:
    joined = act(ActKind.JOINED, BOB, by="carol", role=Role.MEMBER)
    added = act(ActKind.ADDED, CAROL, by="bob", role=Role.MEMBER)
    made = act(ActKind.ROLE, MALLORY, by="bob", role=Role.ADMIN)
    invited = act(ActKind.INVITED, by="bob", role=Role.MEMBER)

    assert lost(added, Reason.SIGNER_TAKEN_OUT, did(ActKind.REMOVED, BOB)) == (
        "bob's adding of carol came to nothing, for alice had removed bob; /add carol lets them in"
    )
    assert lost(joined, Reason.INVITE_VOID, did(ActKind.INVITED, by=BOB)) == (
        "bob's invitation of carol came to nothing, for the code had come to nothing; "
        "/add carol lets them in"
    )
    assert lost(joined, Reason.CODE_ENDED, did(ActKind.REMOVED, MALLORY)) == (
        "bob's invitation of carol came to nothing, for alice had removed mallory, which ends "
        "all codes; /add carol lets them in"
    )
    assert lost(joined, Reason.CODE_ENDED, did(ActKind.REVOKED, BOB)) == (
        "bob's invitation of carol came to nothing, for alice had ended a code of bob; "
        "/add carol lets them in"
    )
    assert lost(made, Reason.OVERRULED, did(ActKind.REMOVED, MALLORY)) == (
        "bob's making mallory an admin came to nothing, for alice had removed mallory"
    )
    assert lost(invited, Reason.SIGNER_TAKEN_OUT, did(ActKind.ROLE, BOB, role=Role.READER)) == (
        "bob's code came to nothing, for alice had made bob a reader; /invite makes another one"
    )
    assert lost(invited, Reason.RIGHT_LOST, did(ActKind.ROLE, BOB)) == (
        "bob's code came to nothing, for what gave bob the right to it came to nothing, too; "
        "/invite makes another one"
    )
    assert lost(joined, Reason.CROWDED) == (
        "bob's invitation of carol came to nothing, for as many are in as can be; "
        "carol is in once there is room"
    )


@pytest.mark.parametrize("kind", ActKind)
@pytest.mark.parametrize("reason", Reason)
@pytest.mark.parametrize("because", [None, *ActKind])
def test_whatever_was_lost_to_whatever_has_words(
    kind: ActKind, reason: Reason, because: ActKind | None
) -> None:
    shown = act(kind, MALLORY, by="bob", role=Role.MEMBER, policy=(("write", Access.ADMINS),))
    why = None if because is None else did(because, MALLORY, role=Role.MEMBER)

    said = lost(shown, reason, why)

    assert "came to nothing, for " in said
    assert "nobody" not in said


def test_text_of_peers_cannot_steer_the_terminal_or_begin_a_line() -> None:
    evil = Person(peer("eve"), "e\x1b[2Jve\n\u202e")
    shown = act(ActKind.REMOVED, evil, reason="a\nalice: b\x1b]0;x\x07\u202e", by="bob")
    shown = replace(shown, nick="b\x1b[31mob")

    assert sentence(shown) == "bob removed eve: a alice: b]0;x"
    assert sentence(act(ActKind.FOUNDED, name="x\x1b[2J\ny")) == "alice founded #x y"


def test_somebody_without_a_name_has_their_fingerprint() -> None:
    unknown = Person(peer("eve"), "")

    assert sentence(act(ActKind.ADDED, unknown, role=Role.MEMBER)) == (
        f"alice added {short_fingerprint(unknown.peer)}"
    )
