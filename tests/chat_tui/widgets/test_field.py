"""Fields of one line, and what is too much for one."""

from textual.app import App, ComposeResult
from textual.events import Paste

from chat_tui.widgets.field import FIELD_MAX, Field


class Form(App[None]):
    def compose(self) -> ComposeResult:
        yield Field("a")


async def test_a_page_that_was_meant_for_elsewhere_is_not_taken() -> None:
    async with Form().run_test() as pilot:
        field = pilot.app.query_one(Field)
        field.focus()
        field.cursor_position = 1
        field.post_message(Paste("words " * 200))
        await pilot.press("b")
        pasted = field.value
        field.value = "c" * (FIELD_MAX - 1)
        field.cursor_position = len(field.value)
        await pilot.press("d", "e", "f", "backspace", "g")

    assert pasted == "ab"
    assert field.value == "c" * (FIELD_MAX - 1) + "g"
