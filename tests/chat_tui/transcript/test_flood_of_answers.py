"""Ten thousand answers to one message, on the screen: `t` lists as many as anybody reads."""

from pathlib import Path

import pytest

from chat_tui.commands.replying import ANSWERS_MAX
from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.widgets.entries import Entries
from storage.sqlite.journal import SqliteJournal
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.live_screens import lobby, screen, until
from tests.support.chat_tui.readings import command, press, selected, shown
from tests.support.storage.stores import delivered
from tests.support.sync.changed import replied
from tests.support.sync.entries import Author

MANY = 10_000


@pytest.mark.slow
@pytest.mark.net
@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_t_lists_a_thousand_of_them_says_so_and_one_of_them_is_gone_to(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with opened(tmp_path, "alice") as alice:
        ann, bob = Author("ann", lobby(alice)), Author("bob", lobby(alice))
        target = ann.write("tea?")
        flood = [replied(bob, f"answer {number}", target) for number in range(MANY)]
        journal = SqliteJournal(alice._database, alice.identity.peer_id)
        await journal.commit(delivered(target, *flood))
        async with screen(alice, size) as (app, pilot):
            await command(pilot, f"/goto {target.entry.message_id[:8]}")
            await until(pilot, lambda: selected(app) == "tea?")
            await press(pilot, "t")
            await until(pilot, lambda: isinstance(app.screen, ChoiceScreen))
            await until(pilot, lambda: f"answer {MANY - 1}" in shown(app))
            newest = shown(app)
            await press(pilot, "home")
            oldest = shown(app)
            drawn = app.screen.query_one(Entries).drawn
            await press(pilot, "down", "down", "enter")
            await until(pilot, lambda: selected(app) == f"answer {MANY - ANSWERS_MAX + 1}")

    assert "1,000 messages answer ann: tea?" in newest
    assert "There are more: these are 1,000." in newest
    assert "ann: tea?" in oldest
    assert drawn < 10 * size[1], "only what is in sight is drawn, however long the list is"
