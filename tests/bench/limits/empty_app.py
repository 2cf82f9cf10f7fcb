"""An empty Textual application with an input: what no screen of ours can go below.

`python -m tests.bench.limits.empty_app` takes keys until it is ended.
"""

from typing import Final

from textual.app import App, ComposeResult
from textual.widgets import TextArea

READY: Final = "ready"


class EmptyApp(App[None]):
    """Nothing but an input."""

    def compose(self) -> ComposeResult:
        """The input."""
        yield TextArea(placeholder=READY)


if __name__ == "__main__":
    EmptyApp().run()
