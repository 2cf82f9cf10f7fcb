"""F3: who is here and who was, with what can be done about each; and comparing words with one."""

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input

from chat_tui.client.chat import Chat
from chat_tui.keys.places import Place
from chat_tui.keys.table import with_keys
from chat_tui.screens.people_list import PeopleList
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.terminal.key_bindings import bindings_of, heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.addresses import parse_address
from chat_tui.text.safe_text import clean_nick
from chat_tui.widgets.field import Field
from chat_tui.widgets.panel import Panel
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording import peers_table, person, safety_words, sentences
from chat_tui.wording.glyphs import ASCII, Glyphs
from chat_tui.wording.panels import BAD, DIM, here_first
from sync.entries.identity import fingerprint
from sync.errors import LocalError
from sync.machine import ChannelId, PeerId
from sync.view.view import PeerInfo, Trust

QR_STYLE = "#ffffff on #000000"
"""Of a code to scan, in every theme."""

BESIDE_QR = 10
"""Lines of the comparison without its code: where the screen has no more, the code is left out."""

FRAME_LINES = 2
"""Lines above and below the text of a screen: its frame."""

BESIDE_EACH_OTHER = 78
"""Columns from which on the three answers stand in one line."""

ANSWERS = {
    "match": "They match: mark verified ({verify_match})",
    "differ": "They differ: block ({verify_differ})",
    "later": "Later ({close})",
}


class PeersScreen(PeopleList[ChannelId | None]):
    """The table; returns a channel to open, or None. `channel` is the one to reconcile."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Place.PEERS),
        *heard_as("leave", "peers"),
    ]

    def __init__(
        self, chat: Chat, channel: ChannelId | None, glyphs: Glyphs, peer: PeerId | None = None
    ) -> None:
        super().__init__()
        self._chat, self._channel, self._glyphs = chat, channel, glyphs
        self._chosen = peer

    def people(self) -> list[PeerId]:
        """See `PeopleList`; who is here comes first."""
        return [one.peer for one in here_first(self._chat.snapshot())]

    def lines(self, width: int, cursor: int) -> list[Content]:
        """See `PeopleList`."""
        return peers_table.table(self._chat.snapshot(), width, cursor, self._glyphs)

    def heading(self) -> Content:
        """See `PeopleList`."""
        return peers_table.title(self._chat.snapshot())

    def key_hints(self, width: int) -> Content:
        """See `PeopleList`."""
        return peers_table.keys(width, keys_of(self))

    @property
    def chosen(self) -> PeerInfo | None:
        """Peer under the cursor."""
        at = self.at_cursor
        return next((one for one in self._chat.snapshot().peers if one.peer == at), None)

    def action_enter(self) -> None:
        """Show all that is known of one."""
        peer = self.chosen
        if peer is not None:
            known = peer

            def text() -> Content:
                return Content(person.whois(self._chat.snapshot(), _anew(self._chat, known)))

            self.app.push_screen(TextScreen(clean_nick(known.nick), text))

    def action_message(self) -> None:
        """Open the channel of two."""
        peer = self.chosen
        if peer is not None:
            self.run_worker(self._message(peer.peer))

    async def _message(self, peer: PeerId) -> None:
        try:
            self.dismiss(await self._chat.people.open_direct(peer))
        except LocalError as error:
            self._say(str(error), BAD)

    def action_verify(self) -> None:
        """Compare words."""
        peer = self.chosen
        if peer is not None:
            self.app.push_screen(VerifyScreen(self._chat, peer, self._glyphs), self._answered)

    def _answered(self, said: str | None) -> None:
        self._tick()
        if said:
            self._say(said)

    def action_connect(self) -> None:
        """Ask for an address and dial it."""
        self.app.push_screen(AddressScreen(), self._dial)

    def _dial(self, address: str | None) -> None:
        if address:
            self.run_worker(self._carry_out(self._connect(address), f"Connected to {address}."))

    async def _connect(self, address: str) -> None:
        host, port = parse_address(address)
        self._say(f"Dialling {host}, port {port} ...")
        await self._chat.connect(host, port)

    def action_block(self) -> None:
        """Block, or unblock who is blocked."""
        peer = self.chosen
        if peer is None:
            return
        name = sentences.name_of(self._chat.snapshot(), peer.peer)
        if peer.trust is Trust.BLOCKED:
            act, said = self._chat.people.unblock(peer.peer), f"{name} is no longer blocked."
        else:
            act = self._chat.people.block(peer.peer)
            said = (
                f"{name} is blocked: no link, nothing of theirs is shown; it is still passed on. "
                f"{with_keys('{peers_block}', keys_of(self))} undoes it."
            )
        self.run_worker(self._carry_out(act, said))

    def action_reconcile(self) -> None:
        """Compare histories with one now, in the channel that is open."""
        peer = self.chosen
        if peer is not None and self._channel is not None:
            self.run_worker(self._reconcile(peer, self._channel))

    async def _reconcile(self, peer: PeerInfo, channel: ChannelId) -> None:
        name = sentences.name_of(self._chat.snapshot(), peer.peer)
        try:
            if await self._chat.sync(channel, peer.peer):
                self._say(f"Comparing histories with {name}.")
            else:
                self._say(f"{name} is not in the channel that is open.", BAD)
        except LocalError as error:
            self._say(str(error), BAD)

    async def action_doctor(self) -> None:
        """Test the network."""
        await self.app.run_action("doctor")

    async def _carry_out(self, act: Awaitable[None], said: str) -> None:
        try:
            await act
        except LocalError as error:
            self._say(str(error), BAD)
        else:
            self._say(said)
        self._tick()


def _anew(chat: Chat, peer: PeerInfo) -> PeerInfo:
    """Return what is known of a peer by now."""
    return next((one for one in chat.snapshot().peers if one.peer == peer.peer), peer)


class VerifyScreen(FrontModal[str | None]):
    """Words, number and code of a pair; returns what was decided, as a sentence."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Place.VERIFY),
        *heard_as("dismiss", "close"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (BESIDE_EACH_OTHER, "-beside")]  # noqa: RUF012
    DEFAULT_CSS = """
    VerifyScreen { align: center middle; }
    #verify {
        width: 100%; max-width: 100; height: auto; max-height: 100%; padding: 0 1;
        border-top: solid $accent; border-bottom: solid $accent; background: $surface;
    }
    #verify-text { width: 1fr; height: auto; }
    #verify-answers { height: auto; margin-top: 1; }
    #verify-answers Button { margin-right: 2; }
    VerifyScreen.-stacked #verify-answers { layout: vertical; }
    """

    def __init__(self, chat: Chat, peer: PeerInfo, glyphs: Glyphs) -> None:
        super().__init__()
        self._chat, self._peer, self._glyphs = chat, peer, glyphs

    def compose(self) -> ComposeResult:
        """Lay out what to compare, and the three answers."""
        name, keys = clean_nick(self._peer.nick), keys_of(self)
        with VerticalScroll(id="verify", can_focus=False) as frame:
            frame.border_title = f" {name}: compare these in person or by phone "
            frame.border_subtitle = with_keys(" {close}: later ", keys)
            yield Panel(id="verify-text")
            with Horizontal(id="verify-answers"):
                for id_, label in ANSWERS.items():
                    yield Button(with_keys(label, keys), id=id_, compact=True)

    def on_mount(self) -> None:
        """Show the words; nothing is chosen beforehand but to wait."""
        self._draw()
        self.query_one("#later", Button).focus()

    def on_resize(self) -> None:
        """Show the code where there is room for it."""
        self._draw()

    def _draw(self) -> None:
        me, peer = self._chat.snapshot().me, self._peer.peer
        name = clean_nick(self._peer.nick)
        lines = [
            Content.styled(safety_words.words(me, peer), "bold $accent"),
            Content(""),
            Content(
                f"{name} sees the same words with /verify and your name. {safety_words.strength()}"
            ),
            Content(
                f"The same as a number, and as a code to scan: {safety_words.number(me, peer)}"
            ),
            Content.styled(f"{name}'s own key {fingerprint(peer)}, yours {fingerprint(me)}", DIM),
        ]
        code = safety_words.qr_lines(me, peer, in_ascii=self._glyphs is ASCII)
        beside = BESIDE_QR
        if self.size.width < BESIDE_EACH_OTHER:
            beside += len(ANSWERS) - 1
        if len(code) + beside <= self.size.height:
            lines += [Content(""), *(Content.styled(line, QR_STYLE) for line in code)]
        self.query_one("#verify-text", Panel).show(Content("\n").join(lines))

    @on(Button.Pressed, "#match")
    def action_match(self) -> None:
        """They are the same: mark the key verified."""
        name = clean_nick(self._peer.nick)
        self._decide(self._chat.people.verify(self._peer.peer), f"{name} is verified.")

    @on(Button.Pressed, "#differ")
    def action_differ(self) -> None:
        """They are not: block the key."""
        name = clean_nick(self._peer.nick)
        self._decide(self._chat.people.block(self._peer.peer), f"{name} is blocked.")

    @on(Button.Pressed, "#later")
    def _later(self) -> None:
        self.dismiss(None)

    def _decide(self, act: Awaitable[None], said: str) -> None:
        self.run_worker(self._carry_out(act, said))

    async def _carry_out(self, act: Awaitable[None], said: str) -> None:
        try:
            await act
        except LocalError as error:
            said = str(error)
        self.dismiss(said)


class AddressScreen(FrontModal[str | None]):
    """Asks for an address to dial."""

    BINDINGS: ClassVar[list[BindingType]] = heard_as("dismiss", "close")
    DEFAULT_CSS = """
    AddressScreen { align: center middle; }
    #address { width: 60; height: auto; border: round $accent; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        """One field."""
        with Vertical(id="address") as frame:
            frame.border_title = " Connect by address "
            frame.border_subtitle = with_keys(" Enter dials, {close} closes ", keys_of(self))
            yield Field(placeholder="host:port, as /whoami names it there", id="address-field")

    @on(Input.Submitted)
    def _submit(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)


class CodeScreen(TextScreen):
    """A text to pass on; a key copies it, for it may be longer than a line."""

    BINDINGS: ClassVar[list[BindingType]] = heard_as("copy", "reading_copy")

    def __init__(self, title: str, text: Callable[[], Content], code: str) -> None:
        super().__init__(title, text)
        self._code = code

    def on_mount(self) -> None:
        """Say what the keys do; all of it is not in sight on 24 lines."""
        self.call_after_refresh(self._tick)  # how much fits is known once it is laid out
        self._say("{reading_copy} copies it, {over_up} and {over_down} scroll")

    @property
    def fits(self) -> bool:
        """True if all of it is in sight at once."""
        return self.query_one("#text-frame").max_scroll_y == 0

    def action_copy(self) -> None:
        """Put it into the terminal's clipboard."""
        self.app.copy_to_clipboard(self._code)
        self._say("Copied; if not, hold Shift and mark it")

    def _say(self, words: str) -> None:
        said = with_keys(f" {words}, {{close}} closes ", keys_of(self))
        self.query_one("#text-frame").border_subtitle = said


def code_screen(name: str, sentence: str, code: str, lines: list[str]) -> TextScreen:
    """Return a text to pass on, with the same as a code to scan, which says where it is not whole.

    Args:
        name: of the screen.
        sentence: what the code is good for.
        code: the text to pass on.
        lines: the code to scan, drawn.
    """
    drawn = Content("\n").join([Content.styled(line, QR_STYLE) for line in lines])

    def text() -> Content:
        high = screen.app.size.height
        beside = whole_qr(len(lines), high, fits=screen.fits)
        parts = [Content(sentence), Content.styled(code, "bold $accent"), Content(beside), drawn]
        return Content("\n").join([part for part in parts if part.plain])

    screen = CodeScreen(name, text, code)
    return screen


def whole_qr(rows: int, high: int, *, fits: bool) -> str:
    """Return how to see a QR code of so many rows whole in a window so high; empty if it `fits`."""
    if fits:
        return ""
    if rows + FRAME_LINES > high:
        return f"The QR code is cut here: it needs a window of {rows + FRAME_LINES} lines."
    return "Scroll down to its end to see the whole QR code."
