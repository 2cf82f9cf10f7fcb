"""What scripts get to read."""

import json

from chat_tui import events
from tests import scenes


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
