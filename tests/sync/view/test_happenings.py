"""Notes of the latest events of messages: kinds, order and limits."""

from sync.group import values
from sync.machine import SECOND, ChannelId, MessageId, PeerId
from sync.sds.message import Delivery
from sync.view.happenings import KEPT_MAX, Happenings
from sync.view.message_infos import Happening, Noticed, What
from tests.support.chat_tui.scenes import ALICE, BOB, Scene
from tests.support.sync.channels import message_id

HERE, ELSEWHERE = ChannelId("0c" * 16), ChannelId("0d" * 16)
ONE, OTHER = message_id("one"), message_id("other")
BEGAN = 5 * SECOND
CAROL = PeerId("ca" * 32)


def empty() -> Happenings:
    return Happenings(dict, BEGAN)


def delivered(message_id: MessageId, *, after_gap: bool = False) -> values.Deliver:
    return values.Deliver(message_id, None, after_gap, None)


def test_each_kind_is_told_in_its_order() -> None:
    happenings = empty()
    effects: list[values.Effect] = [
        values.Written(1, ONE),
        delivered(ONE, after_gap=True),
        values.BroadcastStored(ONE, b"filter"),
        values.BroadcastStored(ONE, None),
        values.DeliveryChanged(ONE, Delivery.ACKNOWLEDGED),
        values.Missing(ONE, OTHER),
        values.Found(ONE, lost=True),
        values.Withdrawn((OTHER, ONE)),
        values.PushedOut((ONE,)),
    ]
    for at, effect in enumerate(effects):
        happenings.note_effect(at, HERE, effect)

    assert happenings.story(HERE, ONE).happenings == (
        Happening(0, What.WRITTEN),
        Happening(1, What.DELIVERED, after_gap=True),
        Happening(2, What.RESENT),
        Happening(3, What.ANSWERED),
        Happening(4, What.MARKED, delivery=Delivery.ACKNOWLEDGED),
        Happening(5, What.MISSING, noticed=Noticed(OTHER)),
        Happening(6, What.LOST),
        Happening(7, What.WITHDRAWN),
        Happening(8, What.PUSHED_OUT),
    )


def test_what_came_in_a_snapshot_says_so_while_all_notes_since_are_kept() -> None:
    happenings = empty()
    written, came, missing = message_id("written"), message_id("came"), message_id("missing")
    happenings.note_effect(BEGAN, HERE, values.Written(1, written))
    happenings.note_effect(BEGAN + 1, HERE, values.SnapshotCame(CAROL))
    happenings.note_effect(BEGAN + 2, HERE, delivered(came))
    happenings.note_effect(BEGAN + 3, HERE, values.Missing(missing, came))

    def told(message: MessageId, channel: ChannelId = HERE) -> list[What]:
        return [one.what for one in happenings.story(channel, message).happenings]

    copied = happenings.story(HERE, ONE).happenings
    assert copied == (Happening(BEGAN + 1, What.COPIED, by=CAROL),)
    assert [told(one) for one in (written, came, missing)] == [
        [What.WRITTEN],
        [What.DELIVERED],
        [What.MISSING],
    ]
    assert told(ONE, ELSEWHERE) == []
    for number in range(KEPT_MAX):
        happenings.note_effect(BEGAN + 4 + number, HERE, delivered(OTHER))
    assert told(ONE) == []  # it may have come since, and its note was let go of


def test_other_messages_channels_and_effects_are_not_told() -> None:
    happenings = empty()
    happenings.note_effect(1, HERE, delivered(OTHER))
    happenings.note_effect(2, ELSEWHERE, delivered(ONE))
    happenings.note_effect(3, HERE, values.Broadcast(b"frame"))

    story = happenings.story(HERE, ONE)

    assert (story.happenings, story.holders, story.named) == ((), None, ())


def test_the_oldest_notes_give_way_and_it_is_said_since_when_there_are_any() -> None:
    happenings = empty()
    happenings.note_effect(BEGAN, HERE, delivered(ONE))
    before = happenings.story(HERE, ONE)
    for number in range(KEPT_MAX):
        happenings.note_effect(BEGAN + 1 + number, HERE, delivered(OTHER))

    after = happenings.story(HERE, ONE)

    assert (before.since, len(before.happenings)) == (BEGAN, 1)
    assert (after.since, after.happenings) == (BEGAN + 1, ())


def test_a_missing_message_is_noted_with_its_t_req() -> None:
    scene = Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.turn_silent()
    scene.say(BOB, "nobody hears this", then=SECOND // 10)
    scene.turn_quick()
    scene.say(BOB, "but this", then=0)
    scene.until(lambda info: info.missing)
    scene.world.run(SECOND // 10)  # until that is committed
    [info] = scene.snapshot().channels
    assert info.repair is not None
    [request] = info.repair.requests

    story = scene.chat.inspection.story(info.channel, request.message_id)

    [happening] = story.happenings
    assert happening.noticed is not None
    assert happening.noticed == Noticed(
        request.named_by, request.namer, request.t_req, info.repair.t_min, info.repair.t_max
    )
    assert request.namer == scene.world.nodes[BOB].identity.peer_id


def test_holders_and_names_of_a_message_are_in_its_story() -> None:
    scene = Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(ALICE, "who is there?", then=SECOND // 10)
    scene.say(BOB, "me")
    channel, disk = scene.world.channel, scene.world.nodes[ALICE].disk
    [(_, asked), (_, answer)] = disk.lines()
    bob = scene.world.nodes[BOB].identity.peer_id

    story = scene.chat.inspection.story(channel, asked)

    assert story.holders is not None
    assert story.holders.own
    assert bob in dict(story.holders.holders)
    assert (bob, answer) in story.named
