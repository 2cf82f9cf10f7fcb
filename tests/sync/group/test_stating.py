"""State of a channel in its group: the one way in, what waits, and what we set."""

import random
from typing import Final

import pytest

from sync.calimero.governance.ops import GroupId, Key, OpId, Verdict
from sync.calimero.governance.verdicts import Doing
from sync.calimero.state import registers
from sync.calimero.state.contents import Pin, Profile, StateKind, Topic, encode
from sync.calimero.state.entry import Signable, StateEntry, sign
from sync.calimero.state.registers import REGISTERS_OF_AUTHOR_MAX
from sync.errors import LocalError
from sync.group.stating import (
    RENEWED_FROM,
    WAITING_MAX,
    WAITING_OF_AN_AUTHOR_MAX,
    StateNews,
    Stating,
)
from sync.group.values import SetState
from sync.machine import MILLISECOND, MINUTE, SECOND
from tests.support.sync.states import GROUP, deletion_of, entry_of, person, pin_of

NOW: Final = 1_000_000 * SECOND
STAMP: Final = NOW // MILLISECOND
HEAD: Final = OpId(b"\x07" * 32)


def key(number: int) -> Key:
    return Key(person(number).public_key)


def stating_of(number: int = 9, **terms: object) -> Stating:
    """Return the state of a channel as somebody keeps it."""
    return Stating(GROUP, key(number), person(number).sign, **terms)  # type: ignore[arg-type]


def governed_entry(number: int, kind: StateKind, value: bytes, stamp: int) -> StateEntry:
    who = person(number)
    return sign(Signable(GROUP, key(number), kind, b"", stamp, (HEAD,), value), who.sign)


def test_entries_of_others_are_taken_in_whatever_the_order() -> None:
    entries = [
        *[pin_of(1, line, STAMP + line) for line in range(30)],
        *[pin_of(2, line, STAMP) for line in range(30)],
        deletion_of(1, StateKind.PIN, STAMP + 99, (3).to_bytes(32, "big")),
    ]
    roots = set()
    for seed in range(5):
        random.Random(seed).shuffle(entries)
        here = stating_of()
        for entry in entries:
            assert here.receive([entry.content], NOW).refused == ()
        roots.add(here.registers.tree.root)
    assert len(roots) == 1


def test_what_is_wrong_is_refused_with_its_reason_and_the_rest_taken_in() -> None:
    good, other = (
        entry_of(1, Topic("plans"), STAMP),
        entry_of(1, Topic("plans"), STAMP, group=GroupId(b"x" * 16)),
    )
    forged = good.content[:-64] + bytes(64)
    named = governed_entry(1, StateKind.TOPIC, encode(Topic("x")), STAMP + 1)
    news = stating_of().receive([b"", other.content, forged, named.content, good.content], NOW)
    assert [one.entry for one in news.taken] == [good]
    assert len(news.refused) == 4
    assert "signature" in news.refused[2]


def test_what_would_not_stand_is_not_verified() -> None:
    here = stating_of()
    newer = entry_of(1, Topic("b"), STAMP + 5)
    here.receive([newer.content], NOW)
    older = entry_of(1, Topic("a"), STAMP).content[:-64] + bytes(64)
    assert here.receive([older], NOW) == StateNews()


def test_an_entry_far_ahead_is_not_kept_and_taken_in_when_it_is_due() -> None:
    here = stating_of()
    ahead = entry_of(1, Topic("x"), STAMP + 6 * MINUTE // MILLISECOND)
    assert here.receive([ahead.content], NOW) == StateNews()
    assert len(here.registers) == 0
    assert here.aside == 1  # so that a state that differs by it alone is no failure
    other = entry_of(2, Topic("x"), STAMP + 9 * MINUTE // MILLISECOND)
    forged = ahead.content[:-64] + bytes(64)
    assert "signature" in here.receive([forged, other.content], NOW + 2 * MINUTE).refused[0]
    assert here.aside == 1
    assert here.receive([ahead.content], NOW + 2 * MINUTE).taken


def test_in_an_open_channel_an_author_waits_until_a_message_of_theirs_is_here() -> None:
    known: set[Key] = set()
    here = stating_of(knows=known.__contains__)
    entry = entry_of(1, Topic("plans"), STAMP)
    assert here.receive([entry.content], NOW).taken == ()
    assert here.aside == 1
    known.add(key(1))
    assert [one.entry for one in here.on_author_known(key(1)).taken] == [entry]
    assert here.aside == 0


def test_in_an_open_channel_we_set_nothing_before_we_have_written() -> None:
    known: set[Key] = set()
    here = stating_of(knows=known.__contains__)
    assert here.on_set(SetState(1, StateKind.PROFILE, Profile("al")), NOW, ()) == ()
    with pytest.raises(LocalError, match="Write something here first"):
        here.on_set(SetState(2, StateKind.TOPIC, Topic("tea")), NOW, ())
    known.add(key(9))
    assert len(here.on_set(SetState(3, StateKind.TOPIC, Topic("tea")), NOW, ())) == 1


def test_strangers_who_make_up_keys_take_a_bounded_room() -> None:
    here = stating_of(knows=lambda _: False)
    for line in range(2 * WAITING_OF_AN_AUTHOR_MAX):
        here.receive([pin_of(1, line, STAMP + line).content], NOW)
    assert len(here.strangers) == WAITING_OF_AN_AUTHOR_MAX
    newest = {one.signed.stamp for one in here.strangers.take_of(key(1))}
    assert min(newest) == STAMP + WAITING_OF_AN_AUTHOR_MAX
    for number in range(10, 10 + WAITING_MAX + 50):
        here.receive([entry_of(number, Profile("eve"), STAMP).content], NOW)
    assert len(here.strangers) == WAITING_MAX


def test_where_somebody_governs_an_entry_has_the_verdict_at_its_cut() -> None:
    verdicts = {Doing.TOPIC: Verdict.NO, Doing.REACT: Verdict.YES}
    here = stating_of(judge=lambda _, heads, doing: verdicts[doing])
    topic = governed_entry(1, StateKind.TOPIC, encode(Topic("x")), STAMP)
    profile = governed_entry(1, StateKind.PROFILE, encode(Profile("al")), STAMP)
    news = here.receive([topic.content, profile.content], NOW)
    assert [one.entry for one in news.taken] == [profile]
    assert here.receive([entry_of(1, Topic("x"), STAMP).content], NOW).refused


def test_without_a_verdict_an_entry_waits_for_governance() -> None:
    verdict = [Verdict.UNKNOWN]
    here = stating_of(judge=lambda *_: verdict[0])
    topic = governed_entry(1, StateKind.TOPIC, encode(Topic("x")), STAMP)
    news = here.receive([topic.content], NOW)
    assert news.lacking == (HEAD,)
    assert news.taken == ()
    assert here.on_governed().taken == ()
    assert here.aside == 1
    verdict[0] = Verdict.YES
    assert [one.entry for one in here.on_governed().taken] == [topic]
    verdict[0] = Verdict.NO
    assert here.aside == 0


def test_stamps_of_ours_rise_also_while_the_clock_stands_still_or_goes_back() -> None:
    here = stating_of()
    stamps = [
        here.set(Topic(text), at).entry.signed.stamp
        for text, at in [("a", NOW), ("b", NOW), ("c", NOW - MINUTE)]
    ]
    assert stamps == [STAMP, STAMP + 1, STAMP + 2]
    assert here.delete(StateKind.TOPIC, NOW).entry.says is None


def test_without_the_right_nothing_is_signed_and_the_person_is_told() -> None:
    here = stating_of(judge=lambda _, heads, doing: Verdict.NO)
    with pytest.raises(LocalError, match="Only admins set the topic"):
        here.set(Topic("x"), NOW, (HEAD,))
    with pytest.raises(LocalError, match="not in this channel"):
        here.set(Profile("al"), NOW, (HEAD,))
    with pytest.raises(LocalError, match="cannot be kept"):
        stating_of().set(Topic("x" * 500), NOW)
    assert len(here.registers) == 0


def test_where_there_is_no_room_left_nothing_is_signed_and_the_person_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registers, "ENTRIES_MAX", 3)
    here = stating_of()
    for line in range(3):
        here.receive([pin_of(1, line, STAMP + 60_000).content], NOW)
    with pytest.raises(LocalError, match="keeps no more"):
        here.set(Profile("alice"), NOW)
    assert len(here.registers) == 3


def test_what_is_live_of_ours_is_signed_anew_before_pins_push_it_out() -> None:
    here = stating_of()
    here.set(Profile("alice"), NOW)
    for line in range(RENEWED_FROM):
        here.set(Pin(), NOW + line, name=line.to_bytes(32, "big"))
    [renewed] = here.renewed(NOW + MINUTE)
    assert renewed.entry.says == Profile("alice")
    assert here.renewed(NOW + MINUTE) == ()
    for line in range(RENEWED_FROM, RENEWED_FROM + REGISTERS_OF_AUTHOR_MAX - 2):
        here.set(Pin(), NOW + 2 * MINUTE, name=line.to_bytes(32, "big"))
        here.renewed(NOW + 2 * MINUTE)
    assert here.registers.of(key(9), StateKind.PROFILE) is not None


def test_entries_of_ours_that_a_wrong_clock_put_far_ahead_are_signed_anew() -> None:
    here = stating_of()
    here.set(Topic("x"), NOW + 3600 * SECOND)
    [renewed] = here.renewed(NOW)
    assert renewed.entry.signed.stamp == STAMP
    assert len(here.registers) == 1


def test_the_disk_gives_back_what_stood() -> None:
    here = stating_of()
    here.receive([pin_of(1, line, STAMP + line).content for line in range(40)], NOW)
    again = stating_of()
    again.restore([entry.content for entry in here.registers])
    assert again.registers.tree.root == here.registers.tree.root
