"""Sentences for people about the state of the chat: pure functions of a snapshot.

The screen, the line mode and the /commands all use these words.
"""

from collections.abc import Callable, Sequence
from typing import Final

from chat_tui.text import namesakes
from chat_tui.text.listing import listed
from chat_tui.text.safe_text import NAMELESS, clean_nick, clean_text, clip_cells
from chat_tui.text.times import count, span
from chat_tui.wording import clocks, presence, unreceived
from sync.entries.identity import fingerprint, short_fingerprint
from sync.machine import ChannelId, MessageId, PeerId
from sync.structures.made_once import made_once
from sync.view.governance_infos import Reason, Right, Role
from sync.view.state_infos import ProfileInfo, newest_profiles
from sync.view.view import ChannelInfo, PeerInfo, PeerState, SessionInfo, Snapshot, Trust

ID_SHOWN: Final = 6
"""Characters of a message id on the screen: enough to tell a buffer's rows apart."""

ID_DRAFTED: Final = 12
"""Characters of an id that begin a draft: no two of a channel's messages share as many."""

IN_SYNC: Final = "in sync"
GETTING_HISTORY: Final = "Getting history"

BRINGING: Final = ("checking", "transferring")
"""The states of a session (`SessionInfo`) in which what was found missing comes."""

SOURCES_SHOWN: Final = 2
"""Peers named with what they bring: more would not fit the line."""


def find(snapshot: Snapshot, channel: ChannelId | None) -> ChannelInfo | None:
    """Return what is known of a channel."""
    return next((info for info in snapshot.channels if info.channel == channel), None)


def channel_called(snapshot: Snapshot, title: str) -> ChannelId | None:
    """Return which of our channels goes by a title, as `#lobby`, `lobby` or `@bob`."""
    wanted = title.strip().casefold()
    wanted = wanted if wanted.startswith(("#", "@")) else f"#{wanted}"
    for called in (channel_title, typed_title):
        for info in snapshot.channels:
            if called(info).casefold() == wanted:
                return info.channel
    return None


def channel_title(info: ChannelInfo) -> str:
    """Return the name of a channel, as `#lobby`; of one of two, as `@bob`.

    One that looks like an earlier one's has its sign behind it, as `#lobby~3fa2`; of two, the key
    of their other end where several people go by that name, as `@bob 7F3A-91C2`.
    """
    return f"{typed_title(info)}{'' if info.direct is not None else info.sign}"


def typed_title(info: ChannelInfo) -> str:
    """Return the name of a channel as one joins it: its sign is of this computer alone."""
    if info.direct is not None:
        return f"@{clean_nick(info.name)}{info.sign}"
    return f"#{clean_nick(info.name.removeprefix('#'))}"


def looks_like(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return a warning if a channel's name looks like that of one joined before; else nothing."""
    if not info.sign or info.direct is not None:  # a key beside a name says it all
        return ""
    key = namesakes.look_alike_key(info.name)
    other = next(
        channel_title(one)
        for one in snapshot.channels
        if one.direct is None and namesakes.look_alike_key(one.name) == key
    )
    return (
        f"It is not {other}, whose name looks the same: other people may be there, and it is "
        f"called {channel_title(info)} here."
    )


def called(snapshot: Snapshot, peer: PeerId, nick: str) -> str:
    """Return a name as it is shown: with the key, if several people go by it."""
    return namesakes.called(peer, nick, snapshot.shared_names)


def peers_of(snapshot: Snapshot, info: ChannelInfo) -> list[PeerInfo]:
    """Return the peers that are here and belong to the channel."""
    inside = frozenset(info.peers)
    return [peer for peer in snapshot.peers if peer.state is PeerState.UP and peer.peer in inside]


def name_of(snapshot: Snapshot, peer: PeerId) -> str:
    """Return a peer's name, of who was never met the signed one, else its fingerprint."""
    if peer == snapshot.me:
        return called(snapshot, peer, snapshot.nick)
    known = presence.met(snapshot, peer) or profile_of(snapshot, peer)
    return short_fingerprint(peer) if known is None else called(snapshot, peer, known.nick)


def profile_of(snapshot: Snapshot, peer: PeerId) -> ProfileInfo | None:
    """Return the appearance that somebody chose last, in whatever channel; None if in none."""
    return _profiles(snapshot).get(peer)


@made_once
def _profiles(snapshot: Snapshot) -> dict[PeerId, ProfileInfo]:
    """Return everybody's: a list of hundreds of people asks for each of them."""
    return newest_profiles(info.state for info in snapshot.channels)


def status_of(snapshot: Snapshot, peer: PeerId) -> str:
    """Return the status that somebody has, here or not; safe to show, empty if they set none."""
    profile = profile_of(snapshot, peer)
    return "" if profile is None else " ".join(clean_text(profile.status).split())


def called_within(snapshot: Snapshot, peer: PeerInfo, width: int) -> str:
    """Return a name as `called`; where it has its key, the name is cut and never the key."""
    return cut(called(snapshot, peer.peer, peer.nick), peer.peer, width)


def cut(shown: str, peer: PeerId, width: int) -> str:
    """Return a name, as `called` or `name_of` has it, cut before its key if it has one."""
    key = f" {short_fingerprint(peer)}"
    if not shown.endswith(key):
        return shown
    return clip_cells(shown.removesuffix(key), width - len(key)) + key


def title_within(info: ChannelInfo, width: int) -> str:
    """Return the title of a channel, of one of two cut before the key."""
    return (
        channel_title(info) if info.direct is None else cut(channel_title(info), info.direct, width)
    )


def others_here(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return who is here besides us, as `3 others here`; of two, where the other one is.

    Whoever is not in a governed channel is not told who is there, which may be many.
    """
    if info.direct is not None:
        return presence.of_two(snapshot, info)
    others = len(peers_of(snapshot, info))
    if not others and (out := _out(info)):
        return out
    return f"{count(others, 'other')} here" if others else "nobody else here"


def _out(info: ChannelInfo) -> str:
    """Return that we are not in a governed channel of ours, as far as is known; empty if we are."""
    governance = info.governance
    if governance is None or not governance.read or governance.role is not Role.NONE:
        return ""
    return "you are not in yet" if governance.departure is None else "you are not in"


def agreement(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return how far our history and the others' agree; empty when nobody is here."""
    here = peers_of(snapshot, info)
    words: list[str] = []
    if info.missing_count:
        words.append(f"{info.missing_count:,} missing")
    elif _bringing(snapshot, info):
        words.append("getting history")
    elif any(peer.syncing for peer in here):
        words.append("comparing histories")
    elif info.loading:
        complete = _all_came(snapshot, info)
        words.append("sorting history" if complete else f"{info.loading:,} waiting for history")
    if info.lost:
        words.append(f"{info.lost:,} lost")
    return ", ".join(words) or (IN_SYNC if here else "")


def who_types(snapshot: Snapshot, info: ChannelInfo | None) -> str:
    """Return who is typing, as `dave is typing`; empty if nobody is."""
    typists = () if info is None else info.typists
    names = [called(snapshot, typist.peer, typist.nick) for typist in typists]
    match names:
        case []:
            return ""
        case [one]:
            return f"{one} is typing"
        case [one, other]:
            return f"{one} and {other} are typing"
        case _:
            return f"{len(names)} people are typing"


def what_happens(snapshot: Snapshot, info: ChannelInfo | None) -> str:
    """Return the one sentence that matters now, with what comes next."""
    return _happens(snapshot, info, _about_missing)


def what_else_happens(snapshot: Snapshot, info: ChannelInfo | None) -> str:
    """Return the same beside a line that says what is missing and when it is asked for.

    That is not said twice: here is left what it means for who reads, and for how long.
    """
    return _happens(snapshot, info, what_waits)


def what_waits(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return how many messages wait for missing ones, and for how long; empty if none does."""
    if not info.waiting:
        return ""
    is_held = "is" if info.waiting_count == 1 else "are"
    for_it = "it" if info.missing_count == 1 else "them"
    give_up_at = min(waiting.give_up_at for waiting in info.waiting)
    return (
        f"{count(info.waiting_count, 'message')} {is_held} held back for {for_it}, "
        f"{span(give_up_at - snapshot.now)} at most."
    )


def saving(info: ChannelInfo | None) -> str:
    """Say that the history of a channel is being saved, which takes seconds; else nothing."""
    if info is None or not info.saving:
        return ""
    return f"Saving {count(info.saving, 'message')}; you can write meanwhile."


def _happens(
    snapshot: Snapshot,
    info: ChannelInfo | None,
    about_missing: Callable[[Snapshot, ChannelInfo], str],
) -> str:
    if info is None:
        return "No channel is open. /join #name opens one; /channels lists yours."
    if snapshot.disk:
        return "What you write is sent once the disk takes it."
    if saved := saving(info):
        return saved
    here = peers_of(snapshot, info)
    if not here and info.direct is not None:
        return _about_absence(snapshot, info)
    if not here and info.outgoing_count:
        waits = "waits and goes" if info.outgoing_count == 1 else "wait and go"
        return f"Nobody here; {unreceived.said(info)} {waits} out when someone appears."
    if bringing := _bringing(snapshot, info):
        return _about_history(snapshot, bringing)
    if asks := who_asks(snapshot, info):
        return asks
    if info.missing_count and (missing := about_missing(snapshot, info)):
        return missing
    if syncing := [peer for peer in here if peer.syncing]:
        return f"Comparing histories with {_names(snapshot, syncing)}."
    if info.loading:
        return _about_loading(snapshot, info)
    if here and (by_clocks := clocks.happens(snapshot, info)):
        return by_clocks
    if here and info.outgoing_count:
        return f"{unreceived.said(info)} sent, not yet known to be received."
    if here:
        return _all_well(snapshot, here, info)
    return _elsewhere(snapshot, info) or clean_text(snapshot.network)


def who_asks(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return who asks to be let in, and how, to whoever may do that; empty if nobody does."""
    governance = info.governance
    if governance is None or not governance.may(Right.MEMBERS):
        return ""
    asking = [one for one in governance.asking if one.reason is not Reason.CROWDED]
    if not asking:
        return ""
    first = asking[0]
    is_named = clean_nick(first.nick) != NAMELESS
    name = called(snapshot, first.peer, first.nick) if is_named else short_fingerprint(first.peer)
    if len(asking) == 1:
        return f"{name} asks to be let in: /add {name} does that."
    others, listed = count(len(asking) - 1, "other"), "all"
    if governance.asking_count > len(governance.asking):
        others, listed = f"over {others}", "the first"
    return f"{name} and {others} ask to be let in: /add {name} does that; /members lists {listed}."


def _bringing(snapshot: Snapshot, info: ChannelInfo) -> list[SessionInfo]:
    """Return the sessions that bring us history, the one that lacks most first."""
    sessions = [
        one
        for one in snapshot.sessions
        if one.channel == info.channel and one.state in BRINGING and one.need
    ]
    return sorted(sessions, key=lambda one: one.got - one.need)


def history_share(snapshot: Snapshot, info: ChannelInfo | None) -> float | None:
    """Return how much of what the largest source has for us came, of 1; None if none brings any."""
    bringing = [] if info is None else _bringing(snapshot, info)
    if not bringing:
        return None
    most = max(bringing, key=lambda one: one.need)
    return min(1.0, most.got / most.need)


def _about_history(snapshot: Snapshot, bringing: Sequence[SessionInfo]) -> str:
    """Return how far history has come; what several bring may be the same, so no sum is made."""
    words = [
        f"from {name_of(snapshot, one.peer)}: need {one.need:,}, got {one.got:,}"
        for one in bringing[:SOURCES_SHOWN]
    ]
    more = len(bringing) - SOURCES_SHOWN
    if more > 0:
        words.append(f"and from {count(more, 'other')}")
    return f"{GETTING_HISTORY} {'; '.join(words)}."


def _about_loading(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return what messages wait for that nobody brings: for their turn, or for older ones."""
    if _all_came(snapshot, info):
        return f"Putting {count(info.loading, 'message')} into place."
    wait = "waits" if info.loading == 1 else "wait"
    here = peers_of(snapshot, info)
    search = "looking for somebody who has them" if here else "nobody is here to ask"
    return f"{count(info.loading, 'newer message')} {wait} for older ones; {search}."


def _all_came(snapshot: Snapshot, info: ChannelInfo) -> bool:
    """Return whether the newest session has brought all that we lacked."""
    last = next((one for one in snapshot.sessions if one.channel == info.channel), None)
    return last is not None and 0 < last.need <= last.got


def _about_missing(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return what is missing, when it is asked for next, and how long others wait for it."""
    verb = "is" if info.missing_count == 1 else "are"
    words = f"{count(info.missing_count, 'earlier message')} {verb} missing, "
    words += _asking(snapshot, info)
    if info.waiting_count:
        words += f"; {info.waiting_count:,} held back"
    if info.waiting:
        give_up_at = min(waiting.give_up_at for waiting in info.waiting)
        words += f", {span(give_up_at - snapshot.now)} at most"
    return f"{words}."


def _asking(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return when peers are asked for what is missing: its lowest T_req."""
    if not peers_of(snapshot, info):
        return "and nobody is here to ask"
    if info.repair is None or not info.repair.requests:
        return "looking for it" if info.missing_count == 1 else "looking for them"
    request = min(info.repair.requests, key=lambda request: request.t_req)
    left = request.t_req - snapshot.now
    when = "now" if left <= 0 else f"in {span(left)}"
    return f"asking {'again' if request.asked else 'peers'} {when}"


def _all_well(snapshot: Snapshot, here: Sequence[PeerInfo], info: ChannelInfo) -> str:
    words = "Everything you sent was received" if info.wrote else _readers(snapshot, here)
    if info.lost:
        lost = f"{count(info.lost, 'earlier message')} {'is' if info.lost == 1 else 'are'} lost"
        words += f"; {lost} (/sync looks again)"
    return f"{words}."


def _readers(snapshot: Snapshot, here: Sequence[PeerInfo]) -> str:
    """Return who reads what is written: nobody who is away does so before they come back."""
    away = [peer for peer in here if peer.away]
    reading = [peer for peer in here if not peer.away]
    if not reading:
        return f"{_names(snapshot, away)} {_are(away)} away and can read later what you write"
    words = f"{_names(snapshot, reading)} {_are(reading)} here and will read what you write"
    return f"{words}; {_names(snapshot, away)} {_are(away)} away" if away else words


def _are(peers: Sequence[PeerInfo]) -> str:
    return "is" if len(peers) == 1 else "are"


def _names(snapshot: Snapshot, peers: Sequence[PeerInfo]) -> str:
    """Return who they are, as `bob` or `bob and 2 others`."""
    first = called(snapshot, peers[0].peer, peers[0].nick)
    return first if len(peers) == 1 else f"{first} and {count(len(peers) - 1, 'other')}"


def _about_absence(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return what becomes of what is written to somebody who is gone: nobody else can come here."""
    waits = "what you write waits"
    if info.outgoing_count:
        verb = "waits" if info.outgoing_count == 1 else "wait"
        waits = f"{unreceived.said(info)} {verb}"
    peer = presence.other_end(snapshot, info)
    is_gone = peer is not None and peer.state is PeerState.DOWN
    where = presence.gone_since(snapshot, peer) if peer is not None and is_gone else "not here"
    return f"{clean_nick(info.name)} is {where}; {waits} for them."


def _elsewhere(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return who is on the network but not in this channel, and how they get here.

    A code must not be offered to whoever only says that they are somebody we know.
    """
    up = [
        peer
        for peer in snapshot.peers
        if peer.state is PeerState.UP and (info.open or peer.trust is not Trust.CHANGED)
    ]
    if not up:
        return ""
    way = f"/join {typed_title(info)}" if info.open else "the code that /invite shows"
    if info.governance is not None:
        members = {one.peer for one in info.governance.members}
        up = [peer for peer in up if peer.peer not in members]
        if not up or not info.governance.may(Right.INVITE):
            return ""
        way = "the code that /invite makes"
    return f"{_names(snapshot, up)} can come here with {way}."


def nothing_yet(info: ChannelInfo | None) -> tuple[str, ...]:
    """Return what stands where messages will be, as lines."""
    if info is None:
        return ("You are in no channel.", "/join #lobby opens the one everybody shares.")
    if info.direct is not None:
        return (
            f"Nothing was written to {clean_nick(info.name)} yet.",
            "Only the two of you can read here; no code, nobody else can join.",
        )
    readers = (
        "Whatever is written here, everybody on this network can read, also later."
        if info.open
        else "Only people with the code can read here; /invite shows it for you to pass on."
    )
    if (governance := info.governance) is None:
        return (f"Nothing was written in {channel_title(info)} yet.", readers)
    if governance.read and governance.role is Role.NONE:
        return (f"Nothing of {channel_title(info)} is here.", "Only members can read here.")
    more = ", /invite lets in more" if governance.may(Right.INVITE) else ""
    return (
        f"Nothing was written in {channel_title(info)} yet.",
        f"Only members can read here. /members says who is{more}.",
    )


def without_lines(snapshot: Snapshot, info: ChannelInfo | None) -> tuple[str, ...]:
    """Return the same, or that history comes, of which none has a place yet."""
    if info is None or history_share(snapshot, info) is None:
        return nothing_yet(info)
    return (
        f"The history of {channel_title(info)} is coming; it is shown in order.",
        "You can write meanwhile.",
    )


def where_asked(snapshot: Snapshot) -> str:
    """Return the channels of which the person is asked about the clock; empty if it is all."""
    question = snapshot.clock.question
    asked = () if question is None else question.channels
    named = [channel_title(one) for one in snapshot.channels if one.channel in asked]
    if not named or len(named) == len(snapshot.channels):
        return ""
    return listed(named)


def openness(info: ChannelInfo) -> str:
    """Return who can read the channel."""
    if info.open:
        return "open to everybody on this network"
    if info.direct is not None:
        return f"only {clean_nick(info.name)} and you can read it"
    if info.governance is not None:
        people = len(info.governance.members)
        return f"only its {count(people, 'member')} can read it" if people else "for members alone"
    return "private: only people with its invite code"


def whoami(snapshot: Snapshot) -> str:
    """Return our name and key, and where we can be reached."""
    where = "not listening yet"
    if snapshot.port is not None:
        where = f"listening on {snapshot.interface or 'all interfaces'}, port {snapshot.port}"
    return (
        f"You are {clean_nick(snapshot.nick)}, {where}.\n"
        f"Your key: {fingerprint(snapshot.me)} (others compare it with you by eye or phone)."
    )


def peer_row(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return what is known of a peer in one line."""
    words = [
        f"{clean_nick(peer.nick)} {short_fingerprint(peer.peer)}",
        *presence.presence(snapshot, peer),
    ]
    if not peer.away and (status := status_of(snapshot, peer.peer)):
        words.append(f'"{status}"')
    words.append(peer.trust.value)
    return " · ".join(words)


def who(snapshot: Snapshot) -> str:
    """Return all peers we have met, those here first."""
    if not snapshot.peers:
        return f"Nobody yet. {clean_text(snapshot.network)}".rstrip()
    peers = sorted(snapshot.peers, key=lambda peer: peer.state is not PeerState.UP)
    return "\n".join(peer_row(snapshot, peer) for peer in peers)


def whoever_lacks(snapshot: Snapshot) -> tuple[str, ...]:
    """Return what to do about somebody who is not there, as lines."""
    nobody = "" if snapshot.peers else "Nobody yet. "
    return (
        f"{nobody}{clean_text(snapshot.network)}",
        "Is somebody missing? /connect host:port dials an address,",
        "and `chat-tui doctor` in another terminal tests the network.",
    )


def channels(snapshot: Snapshot) -> str:
    """Return our channels, one line each."""
    if not snapshot.channels:
        return "No channels yet. /join #lobby opens the one everybody shares."
    return "\n".join(
        f"{channel_title(info)} · {count(info.messages, 'message')} · "
        f"{others_here(snapshot, info)} · {openness(info)}"
        for info in snapshot.channels
    )


def status(snapshot: Snapshot, info: ChannelInfo | None) -> str:
    """Return who we are, what the network does and how the channel is."""
    lines = [whoami(snapshot), clean_text(snapshot.network)]
    if info is not None:
        state = agreement(snapshot, info)
        lines.append(
            f"{channel_title(info)} ({openness(info)}): {count(info.messages, 'message')}, "
            f"{others_here(snapshot, info)}{', ' + state if state else ''}."
        )
    lines += [what_happens(snapshot, info), *clocks.wrong(snapshot)]
    return "\n".join(dict.fromkeys(line for line in lines if line))


def short_id(message_id: MessageId) -> str:
    """Return the beginning of a message id."""
    return clean_text(message_id)[:ID_SHOWN]
