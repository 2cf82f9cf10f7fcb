"""Facts of a note about the exporter: its version, protocols and the parameters of its channels."""

from collections.abc import Mapping
from importlib import metadata

from msgspec import to_builtins

from sync.manager.registry import PROTOCOLS
from sync.sds.parameters import PROFILES


def version() -> str:
    """Return the version of this program; empty where it is not installed."""
    try:
        return metadata.version("chat-tui")
    except metadata.PackageNotFoundError:
        return ""


def capabilities() -> list[str]:
    """Return the names of the protocols of sessions, sorted."""
    return sorted(PROTOCOLS.names)


def parameters(profiles: Mapping[str, str]) -> dict[str, object]:
    """Return what the profiles of channels stand for, by channel."""
    return {
        channel: {"profile": name, **(to_builtins(PROFILES[name]) if name in PROFILES else {})}
        for channel, name in profiles.items()
    }
