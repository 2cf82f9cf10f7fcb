"""The keys that each tab of the debug pane has for itself, over a real engine in the simulator."""

from pathlib import Path

import pytest
from textual.widgets import Static

from chat_tui.debug.frame_kinds import style_of
from chat_tui.debug.state_sections import Order
from chat_tui.debug.tab_table import Tab
from chat_tui.model.author_places import ANSI_HUES, by_key
from chat_tui.settings import schema
from chat_tui.terminal.themes import text_style
from chat_tui.transcript.row_layout import AUTHOR
from chat_tui.widgets.messages import GraphWanted
from sync.machine import MessageId, PeerId
from tests.support.chat_tui import scenes
from tests.support.chat_tui.panes import WIDE, Screen, opened

pytestmark = pytest.mark.slow
"""Each of them plays a scene first."""


async def test_the_buffers_can_be_sorted() -> None:
    async with opened() as screen:
        orders = []
        for _ in Order:
            await screen.press("s")
            orders.append(screen.pane.buffers.order)

        assert orders == [Order.ID, Order.PERSON, Order.TIME]
        await screen.press("s")
        assert screen.lines()[0] == " sorted by id"


async def test_enter_in_the_graph_moves_the_middle_and_then_opens() -> None:
    async with opened(scenes.morning, "2", "k", "k") as screen:
        [before] = screen.selected()
        await screen.press("enter")
        [after] = screen.selected()
        assert before.split("“")[1] == after.split("“")[1]
        assert "◎" in after
        await screen.press("enter")

        assert "Lamport" in screen.text()


async def test_the_graph_shows_more_steps_or_fewer() -> None:
    async with opened(scenes.morning, "2") as screen:
        usual = len(screen.pane.causal.graph.nodes)
        await screen.press("plus")
        more = len(screen.pane.causal.graph.nodes)
        await screen.press("minus", "minus")

        assert len(screen.pane.causal.graph.nodes) < usual < more


async def test_the_graph_as_text_says_what_builds_on_what() -> None:
    async with opened(scenes.repairing, "2", "t") as screen:
        listed = screen.text()
        await screen.press("t")

        assert "builds on" in listed
        assert "named by" in listed
        assert "builds on" not in screen.text()


async def test_the_graph_shows_what_is_missing_and_who_waits_for_it() -> None:
    async with opened() as screen:
        [info] = screen.scene.snapshot().channels
        screen.app.post_message(GraphWanted(info.waiting[0].message_id))
        await screen.pilot.pause()
        await screen.press("plus")

        assert screen.pane.tab is Tab.CAUSAL
        assert "waiting (" in screen.text()
        assert "MISSING" in screen.text()
        await screen.press("n")
        assert screen.pane.causal.centre is None


async def test_an_id_can_be_tested_by_its_beginning() -> None:
    async with opened(scenes.repairing, "3", "slash") as screen:
        [info] = screen.scene.snapshot().channels
        prefix = info.holders[-1].message_id[:8]
        await screen.press(*prefix, "enter")
        here = screen.text()
        await screen.press("slash", *"dead", "enter")
        absent = screen.text()
        await screen.press("home", "j", "j", "j", "j", "enter")

        assert "maybe, and it is here" in here
        assert "no: surely not in the filter" in absent
        assert "position n = " in screen.text()


async def test_the_filter_opens_with_its_formula() -> None:
    async with opened(scenes.repairing, "3", "j", "enter") as screen:
        said = " ".join(screen.text().split())

        assert "(1 - e^(-k·n/m))^k" in said
        assert "(1 - e^(-10·5/15,000))^10" in said


async def test_a_payload_opens_with_its_ranges() -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    app = scenes.screen_of(scene)
    async with app.run_test(size=WIDE) as pilot:
        screen = Screen(app, pilot, scene)
        await screen.press("f2", "4")
        rows = [line.key for line in screen.pane.listing._lines if "/rt 2/" in line.key]
        screen.pane.listing.select(rows[0])
        await screen.press("enter")

        said = " ".join(screen.text().split())
        assert "bytes before delta coding" in said
        assert "fingerprint" in said
        assert "theirs" in said


async def test_frames_are_filtered_paused_and_opened() -> None:
    async with opened(scenes.repairing, "5", "slash", *"dave sync", "enter") as screen:
        heading = next(at for at, line in enumerate(screen.lines()) if "kind" in line)
        chosen = [line for line in screen.lines()[heading + 1 :] if line]
        await screen.press("j", "enter")
        decoded = screen.text()
        await screen.press("escape", "p")
        for _ in range(5):
            await screen.second()

        assert chosen
        assert all("dave" in line and "SYNC" in line for line in chosen)
        assert "SDS message, sync" in decoded
        assert "paused, " in " ".join(screen.lines()[:5])
        await screen.press("p", "slash", "ctrl+u", "enter")
        assert screen.pane.wire.words == ""


async def test_frames_are_recorded_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(scenes.repairing, "5", "r", "enter") as screen:
        path = tmp_path / "chat-tui-wire.jsonl"
        for _ in range(10):
            await screen.second()
        recording = " ".join(screen.lines()[:7])
        await screen.press("r")

        assert "recording to" in recording
        assert path.read_text().count('"hex"') > 0
        assert path.stat().st_mode & 0o777 == 0o600
        assert "recorded to" in str(screen.app.query_one("#status", Static).render())


async def test_a_recording_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    async with opened(scenes.repairing, "5", "r", "ctrl+u") as screen:
        await screen.press(*f"{tmp_path}/none/x", "enter")

        assert "name another file" in str(screen.app.query_one("#status", Static).render())


async def test_steps_are_filtered() -> None:
    async with opened(scenes.repairing, "6", "slash", *"missing", "enter") as screen:
        steps = screen.text().split("newest first")[1]

        assert "misses 1 message" in steps
        assert "shows " not in steps


async def test_each_kind_of_frame_has_its_colour_and_its_name() -> None:
    async with opened(scenes.repairing, "5") as screen:
        styles = {
            span.style
            for line in screen.pane.listing._lines
            for span in line.content.spans
            if line.key.startswith("frame/")
        }

        assert styles == {style_of("MSG"), style_of("SYNC")}
        head = " ".join(screen.lines()[0].split())
        assert head == "SYNC 20 MSG 5"


async def test_the_wire_says_what_its_frames_are_together_and_names_its_columns() -> None:
    async with opened(scenes.repairing, "5") as screen:
        said = " ".join(screen.text().split())
        await screen.press("f")
        wide = " ".join(screen.text().split())

        assert "22.2 kB out, 39.6 kB in, within 1 min: 0.4 frames/s, 874 B/s" in said
        assert "min:s.ms who kind id bytes" in said
        assert "h:min:s.ms who kind id bytes" in wide


@pytest.mark.parametrize("theme", ["tokyo-night", "ansi", "textual-light"])
async def test_messages_of_the_graph_have_the_colours_of_their_authors(theme: str) -> None:
    async with opened(scenes.morning, "2") as screen:
        assigned = screen.app._seen.places
        assert assigned.places
        for author in assigned.places:
            assigned.places[author] = (by_key(author) + 3) % ANSI_HUES  # no colour of a key
        screen.scene.chat.settings.change(schema.THEME, theme)
        await screen.second()
        nodes = screen.pane.causal.graph.by_id
        coloured: dict[PeerId | None, set[str]] = {}
        for line in screen.pane.listing._lines:
            node = nodes.get(MessageId(line.key))
            if node is not None:
                [style] = {
                    str(span.style)
                    for span in line.content.spans
                    if "#" in str(span.style) or "ansi_" in str(span.style)
                }
                coloured.setdefault(node.author, set()).add(style)

        assert len(coloured) > 1
        for whose, worn in coloured.items():
            shown = screen.app.transcript._style(f"{AUTHOR}{whose}")
            assert worn == {f"bold {text_style(shown)}"}
        assert all(len(styles) == 1 for styles in coloured.values())
        assert len({style for styles in coloured.values() for style in styles}) == len(coloured)


@pytest.mark.parametrize("setting", [schema.MOTION, schema.LOW_BANDWIDTH])
@pytest.mark.parametrize(("tab", "moving"), [("0", "▁"), ("1", "▰")])
async def test_without_motion_nothing_moves_by_itself_and_numbers_go_on(
    tab: str, moving: str, setting: schema.Setting[bool]
) -> None:
    async with opened(scenes.repairing, tab) as screen:
        before = screen.text()
        screen.scene.chat.settings.change(setting, setting is schema.LOW_BANDWIDTH)
        await screen.second()
        still = screen.text()
        for _ in range(20):
            await screen.second()
        later = screen.text()

    assert moving in before
    assert moving not in still.partition("Time to acknowledge")[0]
    assert later != still


async def test_escape_leaves_the_line_that_is_typed_into() -> None:
    async with opened(scenes.repairing, "5", "slash", "x", "escape") as screen:
        assert screen.pane.display
        assert screen.pane.wire.words == ""
        assert screen.app.focused is screen.pane.listing
