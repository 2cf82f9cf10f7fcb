"""Known people, names that look alike, and warnings of changed keys."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.client.trust_book import (
    HELD_LONG,
    KNOWN_SHOWN,
    SIGNED_MAX,
    STANDING_OF_HOST,
    WARNINGS_MAX,
    TrustBook,
)
from chat_tui.text.namesakes import look_alike_key
from chat_tui.wording.sentences import channel_title
from storage.profile.members import KnownPeer
from storage.profile.trust import NICKS_KEPT, NickUsed, TrustStore
from sync.entries.identity import short_fingerprint
from sync.machine import DAY, HOUR, MINUTE, SECOND, ChannelId, Nanos, PeerId
from sync.release import FIRST_NS, RELEASED_NS
from sync.view.state_infos import ProfileInfo, StateInfo
from sync.view.view import ChannelInfo, KeyWarning, PeerInfo, PeerState, Snapshot, Trust
from tests.support.storage.stores import Store, delivered, membership, opened
from tests.support.sync.channels import NOW
from tests.support.sync.entries import Author, identity

ME, BOB, EVE, CAROL = (identity(name).peer_id for name in ("alice", "bob", "eve", "carol"))


def book() -> TrustBook:
    return TrustBook(ME)


def meet(
    made: TrustBook,
    peer: PeerId,
    nick: str,
    *,
    host: str | None = None,
    here: frozenset[PeerId] = frozenset(),
    now: Nanos = NOW,
) -> list[KeyWarning]:
    address = None if host is None else (host, 46021)
    return made.meet(
        peer, nick, now, address=address, noise_key=b"n" * 32, is_here=here.__contains__
    )


@pytest.mark.parametrize(
    "other",
    ["bob", "BOB", "B0b", "\u0412ob", "b\u03bfb", "\uff42ob", "b\u00f6b", "bo\u200bb", " bob "],
)
def test_names_that_a_reader_takes_for_each_other_have_one_key(other: str) -> None:
    assert look_alike_key(other) == look_alike_key("bob")


@pytest.mark.parametrize(("one", "other"), [("bob", "rob"), ("anna", "ana"), ("max", "may")])
def test_names_that_differ_have_different_keys(one: str, other: str) -> None:
    assert look_alike_key(one) != look_alike_key(other)


@pytest.mark.parametrize(("one", "other"), [("lily", "Iily"), ("arnold", "amold"), ("ivy", "lvy")])
def test_letters_that_look_alike_together_count_too(one: str, other: str) -> None:
    assert look_alike_key(one) == look_alike_key(other)


def test_a_new_key_with_the_name_of_a_verified_one_is_warned_of_once() -> None:
    made = book()
    meet(made, BOB, "bob")
    made.verify(BOB, "bob", NOW)

    first = meet(made, EVE, "B\u043eb")
    second = made.read(EVE, "bob", NOW)

    assert first == [KeyWarning(EVE, BOB, "B\u043eb", verified=True, raised_ns=NOW)]
    assert second == []
    assert made.trust(EVE) is Trust.CHANGED
    assert made.trust(BOB) is Trust.VERIFIED
    assert made.warning_about(BOB) == made.warning_about(EVE) == first[0]


def test_a_message_by_somebody_never_met_is_enough() -> None:
    made = book()
    made.verify(BOB, "bob", NOW)

    assert [one.peer for one in made.read(EVE, "bob", NOW)] == [EVE]


def test_our_own_name_and_unverified_ones_are_no_reason() -> None:
    made = book()
    meet(made, BOB, "bob")

    assert made.read(EVE, "bob", NOW) == []
    assert made.read(ME, "bob", NOW) == []


def test_whoever_is_verified_may_have_the_name_of_another() -> None:
    made = book()
    made.verify(BOB, "bob", NOW)
    made.verify(EVE, "eve", NOW)

    assert meet(made, EVE, "bob") == []


@pytest.mark.parametrize("answer", ["verify", "block", "trust"])
def test_every_answer_ends_the_warning(answer: str) -> None:
    made = book()
    made.verify(BOB, "bob", NOW)
    made.read(EVE, "bob", NOW)

    match answer:
        case "verify":
            made.verify(EVE, "bob", NOW)
        case "block":
            made.block(EVE, "bob", NOW)
        case _:
            made.answer(EVE)

    assert made.warnings == []
    assert made.read(EVE, "bob", NOW) == []


def test_another_key_at_the_address_of_an_old_name_is_warned_of_unless_both_are_here() -> None:
    made = book()
    meet(made, BOB, "bob", host="10.0.0.7", now=NOW - HELD_LONG)
    meet(made, BOB, "bob", host="10.0.0.7")

    both = meet(made, CAROL, "bob", host="10.0.0.7", here=frozenset({BOB}))
    elsewhere = meet(made, CAROL, "bob", host="10.0.0.8")
    replaced = meet(made, EVE, "bob", host="10.0.0.7")

    assert (both, elsewhere) == ([], [])
    assert [(one.peer, one.known, one.verified) for one in replaced] == [(EVE, BOB, False)]


def test_whoever_used_a_name_for_a_minute_does_not_accuse_who_had_it_before() -> None:
    made = book()
    met = [meet(made, BOB, "bob", host="10.0.0.7", now=NOW + day * DAY) for day in range(30)]
    later = NOW + 30 * DAY

    minute = meet(made, EVE, "bob", host="10.0.0.7", here=frozenset({BOB}), now=later)
    back = meet(made, BOB, "bob", host="10.0.0.7", now=later + MINUTE)
    again = meet(made, BOB, "bob", host="10.0.0.7", now=later + DAY)

    assert [one for raised in (*met, minute, back, again) for one in raised] == []
    assert made.trust(BOB) is Trust.FIRST_SEEN


def test_two_profiles_behind_one_address_that_share_a_name_warn_of_nobody() -> None:
    made = book()
    turns = [(BOB, CAROL)[turn % 2] for turn in range(60)]

    raised = [
        meet(made, peer, "bob", host="10.0.0.7", now=NOW + turn * HOUR)
        for turn, peer in enumerate(turns)
    ]

    assert not any(raised)


def test_who_changes_name_all_the_time_takes_no_more_memory_for_it() -> None:
    made = book()
    for number in range(NICKS_KEPT * 10):
        meet(made, EVE, f"eve {number:x}z", host="10.0.0.5", now=NOW + number * SECOND)

    nicks = made.people[EVE].nicks

    assert nicks == tuple(f"eve {number:x}z" for number in reversed(range(144, 160)))
    assert len(made._at) == 1


def test_whoever_takes_an_old_name_by_renaming_is_as_new_as_the_name() -> None:
    made = book()
    for day in range(5):
        meet(made, BOB, "bob", host="10.0.0.7", now=NOW + day * DAY)
        meet(made, EVE, "eve", host="10.0.0.7", now=NOW + day * DAY)

    renamed = meet(made, EVE, "bob", host="10.0.0.7", now=NOW + 5 * DAY)
    back = meet(made, BOB, "bob", host="10.0.0.7", now=NOW + 6 * DAY)

    assert [(one.peer, one.known) for one in renamed] == [(EVE, BOB)]
    assert back == []


def test_who_was_first_met_by_a_clock_of_1970_has_no_standing_for_that() -> None:
    made = book()
    meet(made, BOB, "bob", now=5 * SECOND)
    meet(made, CAROL, "carol", now=FIRST_NS)
    now = RELEASED_NS + 3 * DAY

    assert made.met_before(now, DAY) == {CAROL}


def test_a_warning_of_before_that_accuses_who_was_there_first_stands_no_more() -> None:
    made = book()
    bob = KnownPeer(BOB, "bob", "10.0.0.7", 46021, NOW - 9 * DAY, NOW)
    eve = KnownPeer(EVE, "bob", "10.0.0.7", 46021, NOW - DAY, NOW - DAY)
    wrong = KeyWarning(BOB, EVE, "bob", verified=False, raised_ns=NOW)
    right = KeyWarning(EVE, BOB, "bob", verified=False, raised_ns=NOW)
    used = {EVE: (NickUsed("eve", NOW - DAY),)}

    made.load([bob, eve], used, [(wrong, False), (right, False)])

    assert made.warnings == [right]
    assert made.people[EVE].named_ns == NOW - DAY
    assert made.people[BOB].named_ns == NOW - 9 * DAY


def test_made_up_keys_get_no_more_than_their_share_of_warnings() -> None:
    made = book()
    made.verify(BOB, "bob", NOW)

    for number in range(WARNINGS_MAX + 10):
        made.read(identity(f"eve {number}").peer_id, "bob", NOW)

    assert len(made.warnings) == WARNINGS_MAX


def test_of_line_profile_and_presence_the_newest_name_is_shown() -> None:
    def shown(made: TrustBook, *, up: bool = False, profile_at: Nanos = 0) -> str:
        profiles = (ProfileInfo(BOB, "by profile", "", "", profile_at),) if profile_at else ()
        info = ChannelInfo(ChannelId("ab" * 16), "lobby", open=True, profile="lan", messages=1,
                           wrote=True, peers=(), state=StateInfo(profiles=profiles))  # fmt: skip
        state = PeerState.UP if up else PeerState.DOWN
        peer = PeerInfo(BOB, "by presence", state, "", last_seen_ns=NOW)
        snapshot = Snapshot(ME, "alice", NOW, 46021, "eth0", "", (info,), (peer,))
        [found] = made.dress(snapshot).peers
        return found.nick

    made = book()
    assert shown(made) == "by presence"
    made.read(BOB, "by an old line", NOW, signed_ns=NOW - MINUTE)
    assert shown(made) == "by presence"
    assert shown(made, profile_at=NOW + SECOND) == "by profile"
    made.read(BOB, "by line", NOW, signed_ns=NOW + 2 * SECOND)
    made.read(BOB, "by a line that came late", NOW, signed_ns=NOW + SECOND)
    assert shown(made, profile_at=NOW + SECOND) == "by line"
    assert shown(made, profile_at=NOW + 3 * SECOND) == "by profile"
    assert shown(made, up=True, profile_at=NOW + 3 * SECOND) == "by presence"


def test_names_in_lines_are_remembered_of_so_many_authors_and_no_more() -> None:
    made = book()
    for number in range(SIGNED_MAX + 5):
        made.read(PeerId(f"{number:064x}"), "somebody", NOW, signed_ns=NOW)
    assert len(made._signed) == SIGNED_MAX


def test_people_of_earlier_runs_are_away_the_last_seen_first_and_not_all_of_them() -> None:
    made = book()
    known = [
        KnownPeer(identity(f"p{number}").peer_id, f"p{number}", None, None, 0, NOW - number)
        for number in range(KNOWN_SHOWN + 5)
    ]
    made.load(known, {}, [])
    snapshot = Snapshot(ME, "alice", NOW, None, "", "", (), ())

    peers = made.dress(snapshot).peers

    assert [peer.nick for peer in peers[:2]] == ["p0", "p1"]
    assert len(peers) == KNOWN_SHOWN
    assert {peer.state for peer in peers} == {PeerState.DOWN}


def two(direct: PeerId, name: str) -> ChannelInfo:
    """The channel of two with somebody, called so when it was opened."""
    return ChannelInfo(
        ChannelId(direct[:32]), name, open=False, profile="lan", messages=0, direct=direct
    )


def titles(made: TrustBook, *infos: ChannelInfo) -> list[str]:
    snapshot = Snapshot(ME, "alice", NOW, None, "", "", infos, ())
    return [channel_title(info) for info in made.dress(snapshot).channels]


def test_a_channel_of_two_is_called_as_its_other_end_is_now() -> None:
    made = book()
    meet(made, BOB, "bob")
    assert titles(made, two(BOB, "bob")) == ["@bob"]

    meet(made, BOB, "robert")

    assert titles(made, two(BOB, "bob")) == ["@robert"]


def test_of_two_of_one_name_both_channels_have_their_keys_and_no_number_of_ours() -> None:
    made = book()
    meet(made, BOB, "bob")
    meet(made, EVE, "B0b")

    assert titles(made, two(BOB, "bob"), two(EVE, "bob-2")) == [
        f"@bob {short_fingerprint(BOB)}",
        f"@B0b {short_fingerprint(EVE)}",
    ]


def test_a_channel_of_two_whose_other_end_told_no_name_has_the_key_instead() -> None:
    assert titles(book(), two(BOB, "")) == [f"@{short_fingerprint(BOB)}"]


def test_who_is_forgotten_shares_a_name_with_nobody_any_more() -> None:
    made = book()
    meet(made, BOB, "bob")
    meet(made, EVE, "bob")
    made.read(EVE, "bob", NOW, signed_ns=NOW)
    assert made.names.called(BOB, "bob") == f"bob {short_fingerprint(BOB)}"

    made.forget_name(EVE)

    assert EVE not in made.people
    assert made.names.called(BOB, "bob") == "bob"


# --- On the disk -------------------------------------------------------------------------------


async def test_verified_blocked_names_and_warnings_are_kept(tmp_path: Path) -> None:
    warning = KeyWarning(EVE, BOB, "bob", verified=True, raised_ns=5 * SECOND)
    async with opened(tmp_path / "chat.db") as store:
        trust = TrustStore(store.database)
        await store.members.remember_peer(
            BOB, nick="bob", address=None, now=SECOND, noise_key=b"k" * 32
        )
        await trust.set_verified(BOB, "bob", 2 * SECOND)
        await trust.set_blocked(EVE, "eve", 3 * SECOND, 3 * SECOND)
        await trust.note_nick(BOB, "robert", 3 * SECOND)
        await trust.note_nick(BOB, "bob", 4 * SECOND)
        await trust.raise_warning(warning)
        await trust.raise_warning(warning)
    async with opened(tmp_path / "chat.db") as store:
        trust = TrustStore(store.database)
        made = book()
        made.load(await store.members.known_peers(), await trust.nicks(), await trust.warnings())
        await trust.answer_warnings(EVE, 6 * SECOND)
        await trust.set_blocked(EVE, "eve", None, 7 * SECOND)
        after = await store.members.known_peers()

        assert await trust.warnings() == [(warning, True)]
    assert made.people[BOB].noise_key == b"k" * 32
    assert made.people[BOB].nicks == ("bob", "robert")
    assert made.people[BOB].verified_ns == 2 * SECOND
    assert made.blocked() == {EVE}
    assert made.warnings == [warning]
    assert {one.peer: one.blocked_ns for one in after} == {BOB: None, EVE: None}


async def test_of_many_names_the_last_are_kept(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        trust = TrustStore(store.database)
        await store.members.remember_peer(BOB, nick="bob", address=None, now=SECOND)
        for number in range(NICKS_KEPT + 3):
            await trust.note_nick(BOB, f"bob {number}", number * SECOND)

        names = [used.nick for used in (await trust.nicks())[BOB]]

    assert names[0] == f"bob {NICKS_KEPT + 2}"
    assert len(names) == NICKS_KEPT


def test_who_is_forgotten_leaves_nothing_behind() -> None:
    made = book()
    meet(made, EVE, "eve", host="10.0.0.9")
    meet(made, BOB, "bob", host="10.0.0.7")

    made.forget([EVE, CAROL])

    assert set(made.people) == {BOB}
    assert meet(made, CAROL, "eve", host="10.0.0.9", now=NOW + DAY) == []


def test_a_flood_of_keys_from_one_address_gains_no_more_standing_than_a_few() -> None:
    made = book()
    began = RELEASED_NS
    meet(made, BOB, "bob", host="10.0.0.7", now=began)
    for number in range(300):
        peer = identity(f"eve {number}").peer_id
        meet(made, peer, f"eve {number}", host="10.0.0.9", now=began + number)
        nowhere = identity(f"mallory {number}").peer_id
        meet(made, nowhere, f"mallory {number}", now=began + number)

    standing = made.met_before(began + 2 * DAY, DAY)

    assert BOB in standing
    assert len(standing) == 1 + 2 * STANDING_OF_HOST


async def remember(store: Store, name: str, now: Nanos, *, private: bool = False) -> None:
    peer = identity(name).peer_id
    await store.members.remember_peer(peer, nick=name, address=None, now=now, private=private)
    await TrustStore(store.database).note_nick(peer, name, now)


async def test_of_strangers_those_met_longest_ago_are_forgotten_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.profile.members.ONCE_MAX", 5)
    monkeypatch.setattr("storage.profile.members.OFTEN_MAX", 2)
    people = {
        name: identity(name).peer_id
        for name in ("verified", "blocked", "private", "direct", "warned", "author", "here")
    }
    async with opened(tmp_path / "chat.db") as store:
        trust = TrustStore(store.database)
        names = [*people, *(f"day {number}" for number in range(4))]
        for number, name in enumerate(names):
            await remember(store, name, number, private=name == "private")
        for number in range(4):
            await remember(store, f"day {number}", 2 * DAY + number)
        for number in range(12):
            await remember(store, f"stranger {number}", DAY + number)
        await trust.set_verified(people["verified"], "verified", SECOND)
        await trust.set_blocked(people["blocked"], "blocked", SECOND, SECOND)
        await trust.raise_warning(
            KeyWarning(people["warned"], BOB, "bob", verified=False, raised_ns=1)
        )
        direct = replace(membership(ChannelId("d0" * 16), "two"), direct=people["direct"])
        await store.members.add_channel(direct, log=1)
        await store.journal.commit(delivered(Author("author").write("a line")))
        gone = await store.members.forget_strangers({people["here"]})
        left = {one.nick for one in await store.members.known_peers()}
        nicks = await trust.nicks()

    strangers = {f"stranger {number}" for number in range(7, 12)}
    assert left == {*people, "day 2", "day 3", *strangers}
    assert len(gone) == 2 + 7
    assert not set(gone) & set(nicks)
