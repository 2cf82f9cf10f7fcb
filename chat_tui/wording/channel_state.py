"""Topic, pins and read marks in words: functions of a snapshot, for every face of the chat.

Topics are other people's bytes, so they are cleaned here.
"""

from typing import Final

from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import day_and_time
from chat_tui.wording import membership, replies, sentences
from chat_tui.wording.rights import those_who
from sync.machine import PeerId
from sync.view.state_infos import TopicInfo
from sync.view.view import ChannelInfo, Line, Snapshot

QUOTED_CELLS: Final = 40
"""Of a line that a sentence names."""


def topic_of(info: ChannelInfo) -> str:
    """Return the topic of a channel in one line; empty if there is none."""
    return "" if info.state.topic is None else one_line(info.state.topic)


def one_line(topic: TopicInfo) -> str:
    """Return a topic, safe to show in one line."""
    return " ".join(clean_text(topic.text).split())


def topic_words(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return the whole topic, by whom and when it was set, and who may set it."""
    title, topic = sentences.channel_title(info), info.state.topic
    who = "Everybody here may set one"
    if info.governance is not None:
        who = f"{those_who(info.governance.policy.topic).capitalize()} may set one"
    if topic is None:
        return f"{title} has no topic. {who}: /topic and a text."
    when = day_and_time(topic.at_ns)
    return f"{title}: {one_line(topic)} (set {by_whom(snapshot, topic.by)}, {when})"


def topic_news(snapshot: Snapshot, info: ChannelInfo, by: PeerId) -> str:
    """Return the sentence that tells of a topic that was just set, or taken back by somebody."""
    title = sentences.channel_title(info)
    who = membership.called(snapshot, by, "")
    if info.state.topic is None:
        return f"{who} took the topic of {title} back."
    return f"{who} set the topic of {title}: {one_line(info.state.topic)}"


def by_whom(snapshot: Snapshot, peer: PeerId) -> str:
    """Return who did something, as `by bob`."""
    return f"by {membership.who(snapshot, peer, '')}"


def quoted(line: Line) -> str:
    """Return the beginning of a line, as a sentence names it; of one not shown, whose it was."""
    if line.deleted:
        return replies.quote(line)
    return f'"{clip_cells(" ".join(clean_text(line.text).split()), QUOTED_CELLS)}"'
