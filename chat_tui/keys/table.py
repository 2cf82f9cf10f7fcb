"""Every key that does something, by id: the table behind the screen, the help and `[keys]`.

Rules:
1. A key stands here only if every common terminal really sends it (see `chat_tui.keys.names`).
2. Two keys that can be heard at the same moment never mean two things (see `conflicts`).
3. A sentence that names a key names its id in braces, so that it tells the key there is.
"""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from chat_tui.keys.names import name_of
from chat_tui.keys.places import Place

Chosen: TypeAlias = Mapping[str, tuple[str, ...]]
"""The keys there are, as Textual names them, by the ids of the table."""


Does: TypeAlias = tuple[tuple[str, ...], str]
"""Ids of keys, and what they do."""


class Key(Struct, frozen=True):
    """One thing that keys do: `keys` as Textual names them, with commas between."""

    id: str
    keys: str
    action: str
    label: str
    """For lists: what it does, as short as a button's title."""
    place: Place = Place.EVERYWHERE
    also: Place | None = None
    """Where else it is heard: it does the same there, with what is in sight."""
    priority: bool = False
    """Whether it goes before what the widget in focus would do with it."""

    @property
    def moments(self) -> frozenset[str]:
        """The parts of the screen in focus while this key is heard (see `key_places`)."""
        return self.place.moments | (frozenset() if self.also is None else self.also.moments)

    @property
    def short_label(self) -> str:
        """Label without the place: for lists of the keys of one place."""
        return self.label if self.place.is_of_chat else self.label.partition(": ")[2]


PANE_TABS: Final = ("Now", "Buffers", "Causal", "Bloom", "Sync", "Wire", "Trace", "Group")
"""Names of the pane's tabs; `chat_tui.debug.tab_table` is imported only with it."""

SCENARIOS: Final = 14
"""Of the demo; `chat_tui.demo.scenarios` is imported only with it."""

WITH_DIGIT: Final = 10
"""Scenarios that a digit chooses, 0 the tenth; those after them two: 1 and, while it opens, 2."""

KEYS: Final = (
    Key("quit", "ctrl+q", "quit", "Quit", priority=True),
    Key("help", "f1,alt+h", "help", "Help"),
    Key("debug", "f2,alt+p", "debug", "Protocol"),
    Key("debug_full", "shift+f2,alt+o", "debug_full", "Protocol on the whole screen"),
    Key("peers", "f3,alt+n", "peers", "Peers"),
    Key("demo", "f4,alt+d", "demo", "Demo"),
    Key("reconcile", "f5", "submit('/sync')", "Compare histories now"),
    # F6 marks a line in Textual
    Key("settings", "f6,alt+c", "settings", "Settings", priority=True),
    Key("clock_follow", "alt+t", "submit('/clock follow')", "Clock: follow the others'"),
    Key("clock_stay", "alt+m", "submit('/clock stay')", "Clock: stay with this one"),
    Key("palette", "ctrl+p", "palette", "Commands", priority=True),
    Key("switch", "alt+k", "switch_channel", "Switch channel"),
    Key("close", "escape", "close", "Close", Place.CHAT),
    Key("next_active", "alt+a", "next_active", "Next channel with new messages"),
    Key("channel_up", "alt+up", "channel(-1)", "Channel above"),
    Key("channel_down", "alt+down", "channel(1)", "Channel below"),
    Key("debug_up", "alt+pageup", "page_debug(-1)", "Protocol: further up"),
    Key("debug_down", "alt+pagedown", "page_debug(1)", "Protocol: further down"),
    Key("select", "ctrl+t,alt+s", "select", "Select a message", Place.READING),
    Key("search", "ctrl+f", "search", "Search", Place.READING, priority=True),
    Key("unread", "alt+u", "unread", "First unread message", Place.READING),
    Key("bare", "f9", "bare", "Text without boxes, to copy", Place.READING, Place.OVER),
    Key("read_up", "pageup", "app.read('up')", "Read further up", Place.INPUT),
    Key("read_down", "pagedown", "app.read('down')", "Read further down", Place.INPUT),
    Key("oldest", "ctrl+home", "app.read('oldest')", "Oldest message", Place.INPUT),
    Key("newest", "ctrl+end", "app.read('newest')", "Newest message", Place.INPUT),
    Key("reading_up", "up,k", "move(-1)", "Message: the one above", Place.SELECTED),
    Key("reading_down", "down,j", "move(1)", "Message: the one below", Place.SELECTED),
    Key("reading_page_up", "pageup", "screens(-1)", "Message: a screen up", Place.SELECTED),
    Key("reading_page_down", "pagedown", "screens(1)", "Message: a screen down", Place.SELECTED),
    Key("reading_first", "home", "edge(-1)", "Message: the very first", Place.SELECTED),
    Key("reading_last", "end", "edge(1)", "Message: the newest", Place.SELECTED),
    Key("reading_details", "enter", "details", "Message: all about it", Place.SELECTED),
    Key("reading_copy", "y", "copy", "Message: copy it", Place.SELECTED, Place.DETAILS),
    Key("reading_copy_id", "i", "copy_id", "Message: copy its id", Place.SELECTED, Place.DETAILS),
    Key("reading_quote", "q", "quote", "Message: quote it", Place.SELECTED),
    Key("reading_open", "o", "open_link", "Message: open its link", Place.SELECTED, Place.DETAILS),
    Key("reading_graph", "g", "graph", "Message: what it builds on", Place.SELECTED, Place.DETAILS),
    Key("reading_reply", "r", "reply", "Message: answer it", Place.SELECTED),
    Key("reading_edit", "e", "edit", "Message: edit it", Place.SELECTED),
    Key("reading_react", "plus", "react", "Message: react to it", Place.SELECTED),
    Key("reading_delete", "delete", "delete", "Message: delete it", Place.SELECTED),
    Key("reading_answered", "u", "answered", "Message: go to what it answers", Place.SELECTED),
    Key("reading_back", "backspace", "back", "Message: come back from there", Place.SELECTED),
    Key("reading_thread", "t", "thread", "Message: what answers it", Place.SELECTED),
    Key("reading_join", "J", "join", "Message: join what it invites to", Place.SELECTED),
    Key(
        "reading_ask", "a", "ask_again", "Message: ask for the lost", Place.SELECTED, Place.DETAILS
    ),
    Key("reading_pin", "p,P", "pin", "Message: pin it, or take its pin off", Place.SELECTED),
    Key("reading_raw", "v", "raw", "Message: with or without markup", Place.SELECTED),
    Key("reading_fold", "f", "fold", "Message: unfold a long one, or fold it", Place.SELECTED),
    Key("reading_hide", "h", "hide", "Message: hide a gap's line", Place.SELECTED),
    Key("reading_next", "n", "hit(1)", "Message: next hit, older", Place.SELECTED),
    Key("reading_previous", "N", "hit(-1)", "Message: hit before, newer", Place.SELECTED),
    Key("reading_write", "tab", "write", "Message: write, with it still selected", Place.SELECTED),
    Key("reading_command", "slash", "command", "Message: a command about it", Place.SELECTED),
    *[
        Key(f"pane_tab_{number}", str(number), f"tab({number})", f"Protocol: {name}", Place.PANE)
        for number, name in enumerate(PANE_TABS)
    ],
    Key("pane_tab_left", "left", "step(-1)", "Protocol: tab to the left", Place.PANE),
    Key("pane_tab_right", "right", "step(1)", "Protocol: tab to the right", Place.PANE),
    Key("pane_up", "up,k", "move(-1)", "Protocol: row above", Place.PANE),
    Key("pane_down", "down,j", "move(1)", "Protocol: row below", Place.PANE),
    Key("pane_page_up", "pageup", "page(-1)", "Protocol: a screen up", Place.PANE),
    Key("pane_page_down", "pagedown", "page(1)", "Protocol: a screen down", Place.PANE),
    Key("pane_first", "home", "edge(0)", "Protocol: first line", Place.PANE),
    Key("pane_last", "end", "edge(1)", "Protocol: last line", Place.PANE),
    Key("pane_open", "enter", "open", "Protocol: open the row", Place.PANE),
    Key("pane_details", "i", "details", "Protocol: details of the row", Place.PANE),
    Key("pane_freeze", "space", "freeze", "Protocol: freeze the display", Place.PANE),
    Key("pane_explain", "question_mark", "explain", "Protocol: terms and keys", Place.PANE),
    Key("pane_full", "f", "full", "Protocol: full screen", Place.PANE),
    Key("pane_sort", "s", "press('sort')", "Protocol: sort the buffers", Place.PANE),
    Key("pane_list", "t", "press('list')", "Protocol: graph as text", Place.PANE),
    Key("pane_newest", "n", "press('newest')", "Protocol: newest in the graph", Place.PANE),
    Key("pane_deeper", "plus,equals_sign", "press('deeper')", "Protocol: deeper graph", Place.PANE),
    Key("pane_shallower", "minus", "press('shallower')", "Protocol: shallower graph", Place.PANE),
    Key("pane_names", "v", "press('names')", "Protocol: steps by class names", Place.PANE),
    Key("pane_ask", "slash", "ask", "Protocol: filter, or test", Place.PANE),
    Key("pane_pause", "p", "press('pause')", "Protocol: pause the frames", Place.PANE),
    Key("pane_record", "r", "record", "Protocol: record the frames", Place.PANE),
    Key("pane_leave", "tab,shift+tab", "leave", "Protocol: back to writing", Place.PANE),
    Key("pane_back", "escape", "back", "Protocol: close what is open", Place.PANE),
    Key("over_up", "up,k", "step(-1)", "Over the chat: a line up", Place.OVER),
    Key("over_down", "down,j", "step(1)", "Over the chat: a line down", Place.OVER),
    Key("over_page_up", "pageup", "page(-1)", "Over the chat: a screen up", Place.OVER),
    Key("over_page_down", "pagedown,space", "page(1)", "Over the chat: a screen down", Place.OVER),
    Key("over_first", "home", "edge(-1)", "Over the chat: first line", Place.OVER),
    Key("over_last", "end", "edge(1)", "Over the chat: last line", Place.OVER),
    Key("over_enter", "enter", "enter", "Over the chat: choose; close a text", Place.OVER),
    Key("over_close", "q", "leave", "Over the chat: close", Place.OVER),
    Key("details_frames", "w", "act('wire')", "Details: its frames on the wire", Place.DETAILS),
    Key("details_raw", "d", "raw", "Details: its bytes, and back", Place.DETAILS),
    Key("peers_message", "m", "message", "Peers: write to one alone", Place.PEERS),
    Key("peers_verify", "v", "verify", "Peers: compare words", Place.PEERS),
    Key("peers_connect", "c", "connect", "Peers: connect by address", Place.PEERS),
    Key("peers_block", "b", "block", "Peers: block one, or undo it", Place.PEERS),
    Key("peers_reconcile", "r", "reconcile", "Peers: compare histories now", Place.PEERS),
    Key("peers_doctor", "d", "doctor", "Peers: test the network", Place.PEERS),
    Key("members_message", "m", "message", "Members: write to one alone", Place.MEMBERS),
    Key("members_add", "w", "begin('add')", "Members: let in who asks", Place.MEMBERS),
    Key("members_remove", "d", "begin('kick')", "Members: remove one", Place.MEMBERS),
    Key("members_role", "r", "begin('role')", "Members: give one a role", Place.MEMBERS),
    Key("members_invite", "i", "begin('invite')", "Members: a code to invite by", Place.MEMBERS),
    Key("link_copy", "y,c", "copy", "Link: copy its address", Place.LINK),
    Key("verify_match", "m", "match", "Words: they match", Place.VERIFY),
    Key("verify_differ", "b", "differ", "Words: they differ, block", Place.VERIFY),
    Key("find_scope", "ctrl+f", "scope", "Search: everywhere, or here", Place.FIND, priority=True),
    Key("find_newer", "up", "step(-1)", "Search: the hit above, newer", Place.FIND),
    Key("find_older", "down", "step(1)", "Search: the hit below, older", Place.FIND),
    Key("find_page_up", "pageup", "page(-1)", "Search: a screen up", Place.FIND),
    Key("find_page_down", "pagedown", "page(1)", "Search: a screen down", Place.FIND),
    Key("settings_less", "left", "step(-1)", "Settings: the value before", Place.SETTINGS),
    Key("settings_more", "right", "step(1)", "Settings: the value after", Place.SETTINGS),
    Key("settings_reset", "delete,backspace", "reset", "Settings: undo a change", Place.SETTINGS),
    Key("settings_next", "tab", "section(1)", "Settings: the next part", Place.SETTINGS),
    Key("settings_back", "shift+tab", "section(-1)", "Settings: the part before", Place.SETTINGS),
    Key("demo_forward", "right,full_stop", "forward", "Demo: step", Place.DEMO),
    Key("demo_back", "left,comma", "back", "Demo: step back", Place.DEMO),
    Key("demo_run", "space", "run", "Demo: let time run, or stop it", Place.DEMO),
    Key("demo_slower", "minus", "speed(-1)", "Demo: slower", Place.DEMO),
    Key("demo_faster", "plus,equals_sign", "speed(1)", "Demo: faster", Place.DEMO),
    Key("demo_next", "n", "scenario(1)", "Demo: next scenario", Place.DEMO),
    Key("demo_again", "r", "scenario(0)", "Demo: this scenario again", Place.DEMO),
    Key("demo_formulas", "e", "register", "Demo: formulas, or sentences alone", Place.DEMO),
    Key("demo_protocol", "d", "protocol", "Demo: the protocol of the selected one", Place.DEMO),
    Key("demo_page_up", "pageup", "page(-1)", "Demo: protocol, further up", Place.DEMO),
    Key("demo_page_down", "pagedown", "page(1)", "Demo: protocol, further down", Place.DEMO),
    Key("demo_person", "tab", "select(1)", "Demo: select the next participant", Place.DEMO),
    Key("demo_person_back", "shift+tab", "select(-1)", "Demo: the participant before", Place.DEMO),
    Key("demo_write", "w,enter", "write", "Demo: write as the selected one", Place.DEMO),
    Key("demo_lose", "l", "meddle('lose')", "Demo: lose the next message", Place.DEMO),
    Key("demo_loss", "L", "meddle('loss')", "Demo: lose a share of frames", Place.DEMO),
    Key("demo_delay", "D", "meddle('delay')", "Demo: delay frames", Place.DEMO),
    Key("demo_twice", "U", "meddle('duplicate')", "Demo: frames arrive twice", Place.DEMO),
    Key("demo_cut", "x", "meddle('cut')", "Demo: cut a link, or mend it", Place.DEMO),
    Key("demo_divide", "p", "meddle('divide')", "Demo: cut the network in two", Place.DEMO),
    Key("demo_power", "o", "meddle('power')", "Demo: a computer off, or on", Place.DEMO),
    Key("demo_help", "question_mark", "keys", "Demo: all its keys", Place.DEMO),
    Key("demo_leave", "q", "leave", "Demo: close what is open, then leave", Place.DEMO),
    *[
        Key(f"demo_play_{n}", str(n % 10), f"play({n})", f"Demo: scenario {n}", Place.DEMO)
        for n in range(1, WITH_DIGIT + 1)
    ],
)

BY_ID: Final = {key.id: key for key in KEYS}

IN_BRACES: Final = re.compile(r"\{(\w+)\}")


def with_keys(words: str, chosen: Chosen) -> str:
    """Return words with the first of the keys of every id that stands in them in braces."""
    return IN_BRACES.sub(lambda found: name_of(chosen[found[1]][0]), words)


def conflicts(chosen: Chosen, newest: str = "") -> list[str]:
    """Return a sentence for every key that would mean two things; `chosen` is by id.

    A key heard everywhere is heard while writing as well, so it may not mean another thing there;
    one of the pane may equal one of the chat. Of two, that of the id `newest` has to give way,
    else the one that was changed, else the one further down in the table.
    """
    owners: dict[tuple[str, str], str] = {}
    problems: dict[tuple[str, str], str] = {}
    for row in sorted(KEYS, key=lambda row: (row.id == newest, chosen[row.id] != USUAL[row.id])):
        for key in chosen[row.id]:
            for moment in sorted(row.moments):
                other = owners.setdefault((moment, key), row.id)
                if other != row.id:
                    problems[key, row.id] = (
                        f"{name_of(key)} is taken by keys.{other} ({BY_ID[other].label}): "
                        f"choose another key for keys.{row.id}, or move that one first."
                    )
    return list(problems.values())


USUAL: Final = {row.id: tuple(row.keys.split(",")) for row in KEYS}
"""The keys of every row that nobody has changed, by its id."""
