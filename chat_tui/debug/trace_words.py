"""Steps of the engine in words; a name that is not known here is taken apart into its words."""

import re
from typing import Final

from chat_tui.debug.section import Detail
from chat_tui.text.times import count

STEP: Final = re.compile(r"(\S+) (?:(\S+) +(\w+) → )?(.*)", re.DOTALL)
"""Time; machine and input, which a live node has; effects with commas between."""

PART_OF_NAME: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

NAMED: Final = 2
"""Messages of one step that are named; the others are counted."""

INPUTS: Final = {
    "Restored": "the channel was taken up from the disk",
    "Write": "you wrote",
    "Typing": "you typed",
    "SendAgain": "you asked to send again",
    "AskAgain": "you asked to look again for what is missing",
    "Arrived": "a frame came",
    "PeerJoined": "somebody came",
    "PeerAnnounced": "somebody said which protocols it speaks",
    "LinksTimed": "how slow links are has changed",
    "LogsAnnounced": "somebody announced its logs",
    "PeerGone": "somebody went",
    "Audience": "the number of people here changed",
    "OwnClock": "our clock was looked at",
    "MemberClock": "a pong told somebody's clock",
    "StartSession": "you asked to compare histories",
    "SessionOffered": "somebody begins to compare histories",
    "SessionOpened": "the stream of a session is open",
    "SessionPayload": "a payload of a session came",
    "EntriesLoaded": "stored messages were read",
    "SessionClosed": "the stream of a session is closed",
    "Transferred": "a message that we lacked was pushed to us",
    "TransferEnded": "a push to us is over",
    "Retrieved": "a missing message came another way",
    "HeldBackLoaded": "messages held back were read from the disk",
    "OpsArrived": "ops of governance came",
    "HeartbeatArrived": "heads of governance were told",
    "Act": "you act on the channel's members",
    "SetState": "you set something of the channel",
    "StateArrived": "state of the channel came",
    "RootTold": "somebody told the root of its state",
    "Tick": "time passed",
    "Continue": "a session has more to answer",
    "Joined": "somebody came",
    "Left": "somebody went",
    "Announced": "somebody said which protocols it speaks",
    "LogsOffered": "somebody announced its logs",
    "Ended": "a session is over",
    "Sought": "a session looks for somebody",
    "StateDiffers": "somebody's state differs from ours",
    "Relayed": "a peer passed something on",
    "WentLive": "a session stays, to pass on what is new",
    "LackingNow": "the number of missing messages changed",
    "Asked": "you asked to compare histories",
}
"""Words for the inputs that come often; others are taken apart."""

EFFECTS: Final[dict[str, tuple[str, str]]] = {
    "StoreMessage": ("stores", "message"),
    "SetStatus": ("notes on the disk the state of", "message"),
    "SetDelivery": ("notes on the disk the tick of", "message"),
    "StoreOp": ("stores", "op"),
    "StoreState": ("stores", "register of state"),
    "Broadcast": ("sends to everybody", "frame"),
    "BroadcastStored": ("sends from the disk", "message"),
    "OpenSession": ("opens", "session"),
    "Sought": ("looks for somebody for", "session"),
    "SendPayload": ("sends", "payload of a session"),
    "LoadEntries": ("reads from the disk for", "session"),
    "CloseSession": ("closes", "session"),
    "SessionEnded": ("ended", "session"),
    "Push": ("pushes", "page of messages that somebody lacks"),
    "Written": ("commits", "message of yours"),
    "Deliver": ("shows", "message"),
    "Altered": ("changes the look of", "message"),
    "Previewed": ("shows early, dim,", "message"),
    "SetAside": ("sets aside", "message of the future"),
    "LoadHeldBack": ("reads on in", "page of messages held back"),
    "DeliveryChanged": ("changes the tick of", "message"),
    "Missing": ("misses", "message that was named"),
    "Found": ("has an end for", "message that was missing"),
    "PushedOut": ("takes off the screen", "message without room to wait"),
    "Withdrawn": ("takes back", "message until its time"),
    "Retrieve": ("looks elsewhere for", "message"),
    "Refused": ("refuses", "input against the rules"),
    "SendOp": ("sends", "op"),
    "SendHeartbeat": ("tells its heads of governance in", "frame"),
    "TellState": ("tells", "register of state"),
    "TellRoot": ("tells the root of its state in", "frame"),
    "StateChanged": ("shows", "change of the channel's state"),
    "Start": ("begins", "session"),
    "Continue": ("goes on later with", "session"),
}
"""A verb, and what is counted; others are taken apart."""


def step_words(line: str) -> str:
    """Return a step of the trace in words, with its time first."""
    match = STEP.fullmatch(line)
    if match is None:
        return line
    time, machine, event, effects = match.groups()
    said = _effects([one for one in effects.split(", ") if one and one != "nothing"])
    if event is None:
        return f"{time} {said or 'nothing'}"
    cause = INPUTS.get(event) or apart(event)
    return f"{time} {cause}: {said or 'nothing follows'} ({machine})"


def _effects(effects: list[str]) -> str:
    """Return effects in words: those of a kind together, in the order of the first of each."""
    kinds: dict[str, list[str]] = {}
    for effect in effects:
        name, _, about = effect.partition(" ")
        kinds.setdefault(name, []).append(about)
    return ", ".join([_effect(name, about) for name, about in kinds.items()])


def _effect(name: str, about: list[str]) -> str:
    named = list(dict.fromkeys([one for one in about if one]))
    what = ""
    if named:
        more = f" and {len(named) - NAMED:,} more" if len(named) > NAMED else ""
        what = f" ({' '.join(named[:NAMED])}{more})"
    if name not in EFFECTS:
        often = f" {count(len(about), 'time')}" if len(about) > 1 else ""
        return f"{apart(name)}{often}{what}"
    verb, noun = EFFECTS[name]
    head, _, rest = noun.partition(" ")
    counted = count(len(about), head)
    return f"{verb} {counted}{' ' + rest if rest else ''}{what}"


def apart(name: str) -> str:
    """Return the name of a class as words: `SetCounter` is `set counter`."""
    return PART_OF_NAME.sub(" ", name).lower()


def step_detail(line: str) -> Detail:
    """Return a step whole: in words, then the names of the classes."""
    _, _, effects = line.partition(" ")
    facts = effects.replace(" → ", ", ").split(", ")
    return Detail("Step of the engine", f"{step_words(line)}.", tuple(facts))
