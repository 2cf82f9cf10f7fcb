"""Departures from buffers, as they follow from notes: which, after how long, and from whom."""

from functools import partial

from sync.group import values
from sync.machine import SECOND, ChannelId, MessageId, PeerId
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.wire import encode
from sync.view.departures import DEPARTURES_MAX, DepartureInfo, Left, times_asked
from sync.view.happenings import Happenings
from sync.view.view import FrameInfo, FrameKind
from tests.support.chat_tui import scenes
from tests.support.chat_tui.demos import finished
from tests.support.chat_tui.scenes import ALICE, BOB, QUICK, Scene
from tests.support.sync.channels import message_id

HERE, ELSEWHERE = ChannelId("0c" * 16), ChannelId("0d" * 16)
ONE, OTHER = message_id("one"), message_id("other")


def of(*effects: values.Effect, channel: ChannelId = HERE) -> list[DepartureInfo]:
    """Note one effect a second, and return what left the buffers."""
    happenings = Happenings(dict, 0)
    for at, effect in enumerate(effects):
        happenings.note_effect(at * SECOND, channel, effect)
    return happenings.departures(HERE)


def delivered(message_id: MessageId) -> values.Deliver:
    return values.Deliver(message_id, None, False, None)


def test_what_was_missing_and_came_took_its_time_and_shows_what_waited() -> None:
    left = of(values.Missing(ONE, OTHER), values.Found(ONE, lost=False), delivered(OTHER))

    assert left == [
        DepartureInfo(OTHER, Left.SHOWN, 2 * SECOND, 0),
        DepartureInfo(ONE, Left.FOUND, SECOND, 0),
    ]
    assert [one.took for one in left] == [2 * SECOND, SECOND]


def test_what_is_given_up_left_as_lost() -> None:
    [one] = of(values.Missing(ONE, OTHER), values.Found(ONE, lost=True))

    assert (one.how, one.took) == (Left.LOST, SECOND)


def test_an_own_one_leaves_once_it_is_acknowledged_or_has_failed() -> None:
    [other, one] = of(
        values.Written(1, ONE),
        values.Written(2, OTHER),
        values.BroadcastStored(ONE, b"filter"),
        values.DeliveryChanged(ONE, Delivery.POSSIBLY_ACKNOWLEDGED),
        values.DeliveryChanged(ONE, Delivery.ACKNOWLEDGED),
        values.DeliveryChanged(OTHER, Delivery.FAILED),
    )

    assert one == DepartureInfo(ONE, Left.ACKNOWLEDGED, 4 * SECOND, 0, resent=1)
    assert other == DepartureInfo(OTHER, Left.FAILED, 5 * SECOND, SECOND)


def test_an_answer_of_ours_left_and_nobody_knows_since_when() -> None:
    [one] = of(values.BroadcastStored(ONE, None))

    assert (one.how, one.took) == (Left.ANSWERED, None)


def test_other_channels_are_left_out() -> None:
    assert of(values.BroadcastStored(ONE, None), channel=ELSEWHERE) == []


def test_the_newest_are_kept_and_no_more_than_that() -> None:
    left = of(*[values.BroadcastStored(ONE, None)] * (DEPARTURES_MAX + 5))

    assert len(left) == DEPARTURES_MAX
    assert left[0].at == (DEPARTURES_MAX + 4) * SECOND


def test_a_repair_in_a_real_channel_says_who_sent_it() -> None:
    scene = Scene("alice", "bob")
    scene.say(ALICE, "hello")
    scene.world.network.link = scenes.SILENT
    scene.world.write_text(BOB, "this one is lost")
    scene.world.run(SECOND // 10)
    scene.world.network.link = QUICK
    scene.world.write_text(BOB, "and this one is not")
    scene.world.run(30 * SECOND)

    channel = scene.snapshot().channels[0].channel
    left = scene.chat.inspection.departures(channel)

    [found] = [one for one in left if one.how is Left.FOUND]
    assert found.by == scene.world.nodes[BOB].identity.peer_id
    assert found.took is not None
    assert found.asked == 1
    assert any(one.how is Left.ACKNOWLEDGED and one.took for one in left)


def test_whoever_was_slower_to_answer_learns_who_was_faster() -> None:
    world = finished(4).world
    told: dict[int, list[DepartureInfo]] = {}
    for node in world.nodes:
        assert node.runner is not None
        happenings = Happenings(partial(dict, node.runner.groups), 0)
        left = happenings.departures(world.channel)
        told[node.number] = [one for one in left if one.how is Left.FORESTALLED]

    [(slower, [one])] = [(number, left) for number, left in told.items() if left]
    faster = next(node for node in world.nodes if node.identity.peer_id == one.by)
    assert {slower, faster.number} == {1, 3}  # alice, who wrote it, is off; carol lacks it
    assert one.took is None


def frame(data: bytes, *, sent: bool = True) -> FrameInfo:
    return FrameInfo(1, 0, sent, None, HERE, FrameKind.SDS, len(data), data)


def asking_for(*ids: MessageId, names: tuple[MessageId, ...] = ()) -> bytes:
    requests = tuple(HistoryEntry(one, None, None) for one in ids)
    history = tuple(HistoryEntry(one, None, None) for one in names)
    me = PeerId("a0" * 32)
    return encode(Message(me, message_id("sync"), HERE, 1, history, None, requests, b""))


def test_how_often_we_asked_is_counted_in_kept_frames() -> None:
    frames = [
        frame(asking_for(ONE)),
        frame(asking_for(ONE, OTHER)),
        frame(asking_for(ONE), sent=False),
        frame(asking_for(names=(ONE,))),
        frame(asking_for(ONE)[:-3]),
    ]

    assert times_asked(frames, {ONE}) == {ONE: 2}
