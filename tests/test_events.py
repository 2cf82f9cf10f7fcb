"""What scripts get to read."""

import json

from chat_tui import events
from sync.view import TypingShown
from tests import scenes
from tests.conversations import LOBBY, peer


def test_the_status_counts_what_is_missing_lost_and_about_to_be_repaired() -> None:
    status = events.snapshot(scenes.repairing().snapshot(), lambda _: "#lobby")

    [channel] = json.loads(events.dumps(status))["channels"]

    assert channel["channel"] == "#lobby"
    assert (channel["missing_count"], channel["lost"]) == (1, 0)
    repair = channel["repair"]
    assert (repair["requests_count"], repair["answers_count"]) == (1, 1)
    assert [request["message_id"] for request in repair["requests"]] == channel["missing"]


def test_the_status_says_who_has_which_message() -> None:
    status = events.snapshot(scenes.repairing().snapshot(), lambda _: "#lobby")

    [channel] = json.loads(events.dumps(status))["channels"]

    own = [known for known in channel["holders"] if known["own"]]
    assert all([status["participant"], "wrote"] in known["holders"] for known in own)


def test_who_begins_or_ceases_to_type_is_named() -> None:
    shown = TypingShown(LOBBY, peer("bob"), "bob", typing=True)

    assert events.to_json(shown, lambda _: "#lobby") == {
        "event": "typing",
        "channel": "#lobby",
        "peer": peer("bob"),
        "nick": "bob",
        "typing": True,
    }
