"""Names of Waku topics: what a channel is called in 14/WAKU2-MESSAGE and its hash."""

import hashlib
from typing import Final

from sync.machine import ChannelId

CLUSTER: Final = 46_021
"""Cluster id of this application: its port, one number less to remember; 0..15 are Waku's own."""

SHARDS_OF_CLUSTER: Final = 1024
"""RELAY-SHARDING: a cluster has the shards 0..1023."""


def shard(channel_id: ChannelId) -> int:
    """Return the shard of a channel: two bytes of the SHA-256 of its id's text, modulo 1024."""
    digest = hashlib.sha256(channel_id.encode()).digest()
    return int.from_bytes(digest[:2], "big") % SHARDS_OF_CLUSTER


def pubsub_topic(channel_id: ChannelId) -> str:
    """Return the topic of the channel's shard (RELAY-SHARDING, "Static sharding")."""
    return f"/waku/2/rs/{CLUSTER}/{shard(channel_id)}"


def content_topic(channel_id: ChannelId) -> str:
    """Return the content topic of the channel (23/WAKU2-TOPICS)."""
    return f"/chat-tui/1/{channel_id}/proto"
