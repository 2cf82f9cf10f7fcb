"""The slow definition beside a running chat: what it is asked, what it costs, what it tells."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from storage.profile.members import Members
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.calimero.governance import cross_check, limits
from sync.calimero.governance.acl_view import InParts
from sync.calimero.governance.cross_check import CrossCheck, Divergence
from sync.calimero.governance.dag import ADMINS
from sync.calimero.governance.verdicts import Plane
from sync.entries.membership import Membership
from sync.group import values
from sync.group.governing import Governing
from sync.group.group import Group
from sync.machine import MINUTE, SECOND, ChannelId
from sync.net.checks import cross_checks
from sync.net.checks.cross_checks import REST, CrossChecks
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, key, person
from tests.support.sync.groups import NOW, Member


@pytest.fixture(autouse=True)
def _turns_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No turn is over because something else, such as the collection of garbage, took long."""
    monkeypatch.setattr(cross_checks, "TURN", MINUTE)


class Chat:
    """A member of a governed channel with its database, and checks that pause at once."""

    def __init__(self, database: Database, history: History) -> None:
        self.history = history
        self.channel = ChannelId(history.governance.group.hex())
        self.member = Member("alice", channel=self.channel, identity_of=person, governed=True)
        self.journal = SqliteJournal(database, self.member.peer_id)
        self.groups: dict[ChannelId, Group] = {self.channel: self.member.group}
        self.pauses: list[float] = []
        self.told: list[values.AnswersChecked] = []
        self.checks = CrossChecks(lambda: self.groups, self.journal, self._feed, self._pause)

    async def take(self, ops: Sequence[bytes]) -> None:
        """Take ops in, and store them."""
        effects = self.member.tell(values.OpsArrived(self.member.peer_id, tuple(ops)))
        await self.journal.commit([one for one in effects if isinstance(one, values.StoreOp)])

    def hear(self, name: str, heads: Sequence[bytes]) -> None:
        """Hear a line of somebody at a cut."""
        author = Author(name, self.channel)
        author.identity, author.peer_id = person(name), person(name).peer_id
        self.member.hear(author.write("hello", governance=tuple(heads)))

    @property
    def governing(self) -> Governing:
        assert self.member.group.governing is not None
        return self.member.group.governing

    def _feed(self, channel: ChannelId, event: values.AnswersChecked) -> None:
        self.told.append(event)
        self.member.tell(event, NOW)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def chat_of(path: Path, history: History) -> tuple[Database, Chat]:
    database = await Database.open(path / "chat.db")
    chat = Chat(database, history)
    membership = Membership(
        chat.channel, "friends", b"s" * 32, open=False, profile="lan", joined_ns=SECOND,
        genesis=history.founded.id,
    )  # fmt: skip
    await Members(database).add_channel(membership, 1)
    await chat.take([op.content for op in history.ops])
    return database, chat


def friends() -> History:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    return history


async def test_true_answers_are_checked_and_counted(tmp_path: Path) -> None:
    database, chat = await chat_of(tmp_path, friends())
    chat.hear("bob", chat.history.governance.heads)
    chat.hear("mallory", chat.history.governance.heads)

    await chat.checks.check_all()
    await chat.checks.check_all()

    assert chat.told == [values.AnswersChecked(4)]  # and the two ops, each at its own cut
    assert chat.governing.answers.checked == 4
    await database.close()


async def test_ops_that_come_later_are_read_when_they_are_needed(tmp_path: Path) -> None:
    database, chat = await chat_of(tmp_path, friends())
    chat.hear("bob", chat.history.governance.heads)
    await chat.checks.check_all()
    removed = chat.history.remove("alice", "bob")
    await chat.take([removed.content])
    chat.hear("bob", chat.history.governance.heads)

    await chat.checks.check_all()

    assert chat.told == [values.AnswersChecked(3), values.AnswersChecked(2)]
    await database.close()


async def test_each_part_is_followed_by_99_times_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, chat = await chat_of(tmp_path, friends())
    chat.hear("bob", chat.history.governance.heads)
    clock = iter(range(0, 1_000_000_000, 10_000_000))
    monkeypatch.setattr(cross_checks, "worked", lambda: next(clock))

    await chat.checks.check_all()

    read, *parts = chat.pauses
    assert read == pytest.approx(REST * 0.01)
    assert parts == [pytest.approx(REST * 0.02)] * len(parts)  # it looks at the clock once between
    assert len(parts) > 3
    assert 1 / (1 + REST) == 0.01
    await database.close()


async def test_a_false_answer_is_counted_by_its_plane_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, chat = await chat_of(tmp_path, friends())
    monkeypatch.setattr("sync.group.governing.peer_is_group_member", lambda *_: True)
    assert chat.governing.is_member(key("mallory"))

    await chat.checks.check_all()

    [told] = chat.told
    [divergence] = told.divergences
    assert divergence.plane is Plane.SYNC
    assert chat.governing.answers.divergences == {Plane.SYNC: 1}
    assert values.Diverged(divergence) in chat.member.tell(told)
    await database.close()


async def test_a_large_channel_is_checked_a_turn_at_each_look_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_checks, "TURN", 1)
    history = friends()
    for number in range(150):
        history.add("alice", f"person {number}")
        history.remove("alice", f"person {number}")
    database, chat = await chat_of(tmp_path, history)
    chat.hear("bob", history.governance.heads)
    chat.hear("mallory", history.governance.heads)
    looks = 0
    while not chat.told or sum(one.checked for one in chat.told) < 2 + len(history.ops):
        await chat.checks.check_all()
        looks += 1
        assert looks < 10_000

    assert looks > 10
    assert all(not one.skipped and not one.divergences for one in chat.told)
    await chat.checks.check_all()
    assert chat.governing.answers.checked == 2 + len(history.ops)
    await database.close()


async def test_answers_that_wait_for_too_long_are_skipped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_checks, "TURN", 0)
    monkeypatch.setattr(limits, "ANSWERS_UNCHECKED_MAX", 1)
    database, chat = await chat_of(tmp_path, friends())
    for name in ("bob", "mallory"):
        chat.hear(name, chat.history.governance.heads)
        await chat.checks.check_all()

    assert chat.told == [values.AnswersChecked(0, skipped=1)]
    assert chat.governing.answers.skipped == 1
    await database.close()


async def test_what_the_projection_made_of_an_op_is_checked_at_its_own_cut(
    tmp_path: Path,
) -> None:
    database, chat = await chat_of(tmp_path, friends())
    acts = chat.governing.governance.dag.acts
    acts[1] = acts[1]._replace(judgement=acts[1].judgement._replace(rank=ADMINS))

    await chat.checks.check_all()

    [told] = chat.told
    assert [one.plane for one in told.divergences] == [Plane.CUT]
    assert [one.answer.key for one in told.divergences] == [key("alice")]
    await database.close()


async def test_ops_of_the_channel_asked_about_longest_ago_are_let_go_and_not_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OPS_COMPARED_MAX", 3)
    database, chat = await chat_of(tmp_path, friends())
    await chat.checks.check_all()
    other = Member("alice", channel=chat.channel, identity_of=person, governed=True)
    other.tell(values.OpsArrived(other.peer_id, tuple(op.content for op in chat.history.ops)))
    chat.groups = {ChannelId("other"): other.group, **chat.groups}
    load = chat.journal.load_ops
    monkeypatch.setattr(chat.journal, "load_ops", lambda _, ops: load(chat.channel, ops))

    await chat.checks.check_all()
    held = {channel: len(one) for channel, one in chat.checks._checking.items()}
    assert held == {ChannelId("other"): 0, chat.channel: 2}
    assert chat.told == [values.AnswersChecked(2)] * 2

    chat.hear("bob", chat.history.governance.heads)
    for _ in range(40):  # a busy machine may end a turn before it
        await chat.checks.check_all()
        if chat.told[2:]:
            break
    assert chat.told[2:] == [values.AnswersChecked(1)]
    await database.close()


async def test_what_the_disk_does_not_give_is_skipped(tmp_path: Path) -> None:
    database, chat = await chat_of(tmp_path, friends())
    late = chat.history.add("alice", "carol")
    chat.member.tell(values.OpsArrived(chat.member.peer_id, (late.content,)))  # and not stored
    chat.hear("bob", [late.id])

    await chat.checks.check_all()

    assert chat.told == [values.AnswersChecked(0, skipped=1)]
    await database.close()


async def test_a_channel_that_was_let_go_meanwhile_is_told_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, chat = await chat_of(tmp_path, friends())
    chat.hear("bob", chat.history.governance.heads)
    whole = CrossCheck.check_in_parts

    def gone(self: CrossCheck, answer: cross_check.Answer) -> InParts[Divergence | None]:
        chat.groups.clear()
        return whole(self, answer)

    monkeypatch.setattr(CrossCheck, "check_in_parts", gone)

    await chat.checks.check_all()
    await chat.checks.check_all()

    assert chat.told == []
    await database.close()
