"""Facts known of one person, and warnings of changed keys: functions of a snapshot."""

from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.text.times import count, size
from chat_tui.wording import contradictions, presence, sentences
from sync.entries.identity import fingerprint, short_fingerprint
from sync.view.view import LogsInfo, PeerInfo, PeerState, Snapshot


def has_and_needs(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return what a peer had that we lacked, and the other way, by the last reconciliation.

    Of who is gone nobody knows: both may have written since.
    """
    last = next((one for one in snapshot.sessions if one.peer == peer.peer), None)
    if last is None or peer.state is PeerState.DOWN:
        return "unknown"
    if last.ended_at is None:
        return f"{max(0, last.need - last.got):,} / {last.have:,}"
    return sentences.IN_SYNC if last.proved and last.got >= last.need else "unknown"


def whois(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return all that is known of a peer, as lines."""
    title = "  ".join(
        sentences.channel_title(info) for info in snapshot.channels if peer.peer in info.peers
    )
    last = next((one for one in snapshot.sessions if one.peer == peer.peer), None)
    history = has_and_needs(snapshot, peer)
    if last is not None and last.ended_at is None:
        history = f"it has {last.need:,} that we lack, and lacks {last.have:,} of ours"
    rows = {
        "name": clean_nick(peer.nick),
        "key": f"{fingerprint(peer.peer)}, {peer.trust.value}",
        "state": " · ".join(presence.presence(snapshot, peer)),
        "address": clean_text(peer.address) or "unknown",
        "channels": title or "none in common now",
        "history": history,
    }
    if status := sentences.status_of(snapshot, peer.peer):
        rows["status"] = status
    if peer.stored_messages:
        rows["on disk"] = f"{stored(peer.stored_messages)} of theirs, {size(peer.stored_bytes)}"
    if forks := contradictions.of_author(snapshot.contradictions, peer.peer):
        rows["forks"] = forks
    if peer.logs is not None:
        rows["logs"] = announced_logs(peer.logs)
    if refused := snapshot.refused.get(peer.peer):
        rows["refused"] = f"{count(refused, 'bad input')} of theirs"
    return "\n".join(f"{word:<10}{text}" for word, text in rows.items())


def stored(messages: int) -> str:
    """Return how much of somebody is on the disk, where edits and reactions are counted too."""
    return count(messages, "message or change", "messages and changes")


def announced_logs(logs: LogsInfo) -> str:
    """Return what a peer and we announce to each other of author logs."""
    if logs.version is None:
        theirs = "announces none"
    elif not logs.is_known:
        theirs = f"announces with version {logs.version}: nothing is requested"
    else:
        theirs = f"announces those of {count(logs.theirs, 'channel')}"
    return f"{theirs}; it was told of {count(logs.ours, 'channel')}"


def disk_lines(snapshot: Snapshot, held: int) -> list[str]:
    """Return what the disk refuses, and what becomes of the chat meanwhile.

    `held` lines that were written wait in memory.
    """
    if not snapshot.disk:
        return []
    meanwhile = "You can read on; nothing new is taken from others until then."
    if held:
        loses = "it" if held == 1 else "them"
        meanwhile = f"{lines_wait(held)} in memory until then; leaving the chat loses {loses}."
    return [f"DISK: {snapshot.disk}", meanwhile]


def lines_wait(held: int) -> str:
    """Return how many lines wait for the disk, as the beginning of a sentence."""
    return f"{held:,} {'line waits' if held == 1 else 'lines wait'}"


def warning_lines(snapshot: Snapshot) -> list[str]:
    """Return what warns of the newest changed key, and how many more there are."""
    if not snapshot.warnings:
        return []
    warning, *more = snapshot.warnings
    nick, new = clean_nick(warning.nick), short_fingerprint(warning.peer)
    old = short_fingerprint(warning.known)
    before = (
        "a key you verified"
        if warning.verified
        else "a key you have known for days, at the same address,"
    )
    others = f" {len(more):,} more." if more else ""
    changed = f"{nick} was {before} ({old}) and is {new} now: a new computer, or somebody else."
    answers = f"/verify {new} · /trust {new} · /block {new}"
    return [
        f"CHANGED KEY: {changed}",
        f"Nothing goes to @{nick} until you answer: {answers}.{others}",
    ]
