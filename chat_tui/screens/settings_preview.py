"""A conversation that never was, to look at while its look is chosen."""

from typing import Final

from chat_tui.model.conversation import Conversation
from chat_tui.transcript.transcript import Transcript
from sync.machine import MINUTE, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.view import Line

BEGINS: Final[Nanos] = 1_763_716_500 * SECOND
"""21 November 2025, 09:15 UTC."""

NOWHERE: Final = ChannelId("0" * 64)
ALICE: Final = PeerId("00000005")

SAID: Final = (
    (PeerId("00000003"), "carol", "morning! I moved the projector to room 2", None),
    (PeerId("00000001"), "bartholomew", "@alice can you bring the switch?", None),
    (ALICE, "alice", "sure, on my way", Delivery.ACKNOWLEDGED),
    (ALICE, "alice", "do we need the long one too?", Delivery.UNACKNOWLEDGED),
)


def preview() -> Transcript:
    """Return the widget that shows it, as every conversation is shown."""
    conversation = Conversation(NOWHERE, ALICE, "alice")
    conversation.has_older = False
    now = BEGINS + (len(SAID) - 1) * MINUTE + 12 * SECOND
    shown = Transcript(conversation, now=now)
    for number, (author, nick, text, delivery) in enumerate(SAID):
        conversation.arrive(
            Line(
                channel=NOWHERE,
                message_id=MessageId(f"{number:064x}"),
                author=author,
                nick=nick,
                text=text,
                lamport=number,
                created_ns=BEGINS + number * MINUTE,
                own=delivery is not None,
                after_gap=False,
                delivery=delivery,
            )
        )
    return shown
