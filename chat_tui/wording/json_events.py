"""Events as JSON objects: the contract of `plain --json`, `tail --json` and `status --json`."""

import json
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec.json
from msgspec import Struct, structs

from chat_tui.wording.acts import sentence
from chat_tui.wording.sentences import channel_title
from sync.machine import MINUTE, ChannelId, Nanos, PeerId
from sync.view.governance_infos import Access, Lateness, Person, Policy, Role
from sync.view.view import (
    AheadShown,
    ChannelLeft,
    ChannelShown,
    ClockShown,
    ContradictionShown,
    DeliveryShown,
    DiscardedShown,
    Event,
    FoundShown,
    HistoryShown,
    Level,
    Line,
    LineChanged,
    LiveShown,
    LooksShown,
    MembershipShown,
    MessageShown,
    MissingShown,
    Notice,
    OpShown,
    PeerShown,
    PeerState,
    PendingEndedShown,
    PendingShown,
    PreviewShown,
    PushedOutShown,
    ReplacedShown,
    Snapshot,
    StateInfo,
    StateKind,
    StateShown,
    SyncShown,
    TrustShown,
    TypingShown,
    WithdrawnShown,
)

Json: TypeAlias = dict[str, Any]
Name: TypeAlias = Callable[[ChannelId], str]
"""The name a channel goes by here, with its `#`."""


OLD_AFTER: Final[Nanos] = 5 * MINUTE
"""Age from which a message is old when it comes: it is history that was fetched, and who answers it
answers what was asked long ago. On a network that is up, a message comes within seconds."""


def message(line: Line, name: Name) -> Json:
    """Return a shown message."""
    return {
        "event": "message",
        "channel": name(line.channel),
        "id": line.message_id,
        "author": line.author,
        "nick": line.nick,
        "text": line.text,
        "lamport": line.lamport,
        "created_ns": line.created_ns,
        "own": line.own,
        "after_gap": line.after_gap,
        "edited": line.edited,
        "deleted": line.deleted,
        "hidden_by": None if line.hidden_by is None else line.hidden_by.peer,
        "late": None if line.late is Lateness.IN_TIME else line.late.name.lower(),
        "reactions": [structs.asdict(reaction) for reaction in line.reactions],
        "more_kinds": line.more_kinds,
        "more_reactors": line.more_reactors,
        "delivery": None if line.delivery is None else line.delivery.value,
        "waits": line.waits,
        "reply_to": line.reply_to,
    }


def aged(shown: Json, now: Nanos | None = None) -> Json:
    """Put `old` into a message: whether it is of before, or was written long before `now`.

    Args:
        shown: as of `message`; other events are returned as they are.
        now: when it came, by the reference clock; None for what is read from the disk.
    """
    if shown["event"] != "message":
        return shown
    shown["old"] = now is None or now - shown["created_ns"] > OLD_AFTER
    return shown


def to_json(event: Event, name: Name) -> Json | None:
    """Return an event; None for one that scripts do not hear of."""
    match event:
        case MessageShown(line):
            return message(line, name)
        case LineChanged(line, rewritten, reacted) if not line.loading:
            changed = {"event": "changed", "rewritten": rewritten, "reacted": reacted}
            return {**message(line, name), **changed}
        case DeliveryShown(channel, message_id, delivery):
            return {
                "event": "delivery",
                "channel": name(channel),
                "id": message_id,
                "state": delivery.value,
            }
        case MissingShown(channel, message_id, named_by):
            return {
                "event": "missing",
                "channel": name(channel),
                "id": message_id,
                "named_by": named_by,
            }
        case PreviewShown(line) if line.parked:
            return {**message(line, name), "event": "parked"}
        case ReplacedShown(channel, message_id, by):
            return {"event": "replaced", "channel": name(channel), "id": message_id, "by": by}
        case ClockShown(clock):
            return {"event": "clock", **_plain(clock)}
        case WithdrawnShown(channel, message_ids) | DiscardedShown(channel, message_ids):
            if not message_ids:
                return None  # it is only to be read again
            gone = "withdrawn" if isinstance(event, WithdrawnShown) else "discarded"
            return {"event": gone, "channel": name(channel), "ids": list(message_ids)}
        case AheadShown(channel, peer, nick, ahead_ns):
            ahead = {"event": "ahead", "channel": name(channel), "participant": peer}
            return {**ahead, "nick": nick, "ahead_ns": ahead_ns}
        case ContradictionShown(found):
            return {
                "event": "fork",
                "channel": name(found.channel),
                "participant": found.author,
                "what": found.what,
                "seq": found.seq,
                "ids": list(found.message_ids),
            }
        case PeerShown(peer, nick, state, away):
            shown = {"event": "peer", "participant": peer, "nick": nick, "state": state.value}
            return {**shown, "away": away} if away else shown
        case TrustShown(peer, nick, trust):
            return {"event": "trust", "participant": peer, "nick": nick, "trust": trust.value}
        case TypingShown(channel, peer, nick, typing):
            return {
                "event": "typing",
                "channel": name(channel),
                "peer": peer,
                "nick": nick,
                "typing": typing,
            }
        case SyncShown() | LiveShown():
            return _session(event, name)
        case Notice(text, Level.ERROR):
            return {"event": "error", "message": text}
        case OpShown() | MembershipShown() | PendingShown() | PendingEndedShown():
            return _governed(event, name)
        case LineChanged() | LooksShown() | HistoryShown() | PushedOutShown():
            return None  # what waits was not told of either, and lines are told as they came
        case (
            Notice() | FoundShown() | ChannelShown() | ChannelLeft() | PreviewShown() | StateShown()
        ):
            return None  # of the last one `state_events` tells


def _governed(
    event: OpShown | MembershipShown | PendingShown | PendingEndedShown, name: Name
) -> Json:
    """Return an act of governance, what came of it, or what waits for one."""
    match event:
        case OpShown(line, again):
            assert line.act is not None
            act = _plain(line.act)
            return {
                "event": "act",
                "channel": name(line.channel),
                "id": line.message_id,
                "author": line.author,
                "nick": line.nick,
                "own": line.own,
                "lamport": line.lamport,
                "created_ns": line.created_ns,
                "again": again,
                "text": sentence(line),
                **act,
                "policy": dict(act["policy"]),
            }
        case MembershipShown(channel, changes):
            told = [
                {
                    "participant": one.peer,
                    "nick": one.nick,
                    "before": _plain(one.before),
                    "after": _plain(one.after),
                }
                for one in changes
            ]
            return {"event": "membership", "channel": name(channel), "changes": told}
        case PendingShown(line):
            return {**message(line, name), "event": "pending"}
        case PendingEndedShown(channel, message_ids, label):
            ended = {"event": "dropped", "channel": name(channel), "ids": list(message_ids)}
            return {**ended, "label": "forgotten" if label is None else label.value}


def state_events(event: StateShown, state: StateInfo, name: Name) -> list[Json]:
    """Return what a channel's `state` says now of what was set, an event each."""
    channel, told = name(event.channel), list[Json]()
    if StateKind.TOPIC in event.kinds:
        topic = {"text": "", "by": None, "at_ns": None} if state.topic is None else None
        told.append({"event": "topic", "channel": channel, **(topic or _plain(state.topic))})
    if StateKind.PIN in event.kinds:
        told.append({"event": "pins", "channel": channel, "pins": _plain(state.pins)})
    for peer in sorted(event.authors):
        about = {"channel": channel, "participant": peer}
        if StateKind.PROFILE in event.kinds and (profile := state.profile(peer)) is not None:
            fields = {"nick": profile.nick, "colour": profile.colour, "status": profile.status}
            told.append({"event": "profile", **about, **fields})
        if StateKind.READ in event.kinds and (mark := state.read(peer)) is not None:
            told.append({"event": "read", **about, "id": mark.message_id, "lamport": mark.lamport})
    return told


def _session(event: SyncShown | LiveShown, name: Name) -> Json:
    """Return the end of a comparison of histories, or that a session stays, or has stayed."""
    fields = structs.asdict(event)
    channel = name(fields.pop("channel"))
    if isinstance(event, SyncShown):
        elapsed_ns = fields.pop("elapsed_ns")
        fields["plane"] = "state" if fields.pop("of_state") else "log"
        return {"event": "sync", "channel": channel, **fields, "milliseconds": elapsed_ns / 1e6}
    begun = fields.pop("begun")
    if begun:
        fields = {key: fields[key] for key in ("peer", "protocol", "why")}
    return {"event": "live", "channel": channel, "state": "begun" if begun else "ended", **fields}


def more_of(shown: Snapshot, peer: PeerId) -> Json:
    """Return what else is known of somebody: what waits, what is stored, when they left."""
    found = next((one for one in shown.peers if one.peer == peer), None)
    if found is None:
        return {}
    gone = {} if found.state is PeerState.UP else {"gone_since_ns": found.last_seen_ns}
    return {
        **gone,
        "waiting": found.waiting,
        "stored_messages": found.stored_messages,
        "stored_bytes": found.stored_bytes,
    }


def snapshot(shown: Snapshot, name: Name) -> Json:
    """Return a snapshot, for `status --json`."""
    plain = _plain(shown)
    del plain["shared_names"]  # of use only to whoever folds names as we do
    plain["participant"] = plain.pop("me")
    for info in plain["channels"]:
        info["id"] = info["channel"]
        info["channel"] = name(info["id"])
    return {"event": "status", **plain}


_encode: Final = msgspec.json.Encoder().encode


def dumps(event: Json) -> str:
    """Return one line of JSON, with a space after each comma and colon."""
    try:
        return msgspec.json.format(_encode(event), indent=0).decode()
    except UnicodeEncodeError:  # names of files may hold what is no character
        return json.dumps(event, ensure_ascii=False)


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever JSON takes
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Struct):
        return {name: _plain(item) for name, item in structs.asdict(value).items()}
    if isinstance(value, Role | Access):
        return value.name.lower()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Policy | Person):
        return {name: _plain(item) for name, item in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


class Namer:
    """Names of channels by their ids; `snapshot` is asked for them once, and when they may change.

    A snapshot would cost more than all else that a message costs.
    """

    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot
        self._names: dict[ChannelId, str] = {}

    def __call__(self, channel: ChannelId) -> str:
        """Return what a channel is called here."""
        if channel not in self._names:
            channels = self._snapshot().channels
            self._names.update({one.channel: channel_title(one) for one in channels})
        return self._names.get(channel, channel)

    def note_event(self, event: Event) -> None:
        """Ask anew after what may change a name: a channel of two is called as its other end."""
        of_names = isinstance(event, StateShown) and StateKind.PROFILE in event.kinds
        if of_names or isinstance(event, PeerShown):
            others = {one: name for one, name in self._names.items() if not name.startswith("@")}
            self._names = others
