"""Choices of a start, made before the chat opens: profile, channel, and how to be reached."""

from pathlib import Path

from msgspec import Struct, field

from chat_tui.settings.preferences import Wishes
from storage.profile.profile import was_used
from sync.entries.entry import NICK_MAX
from sync.net.options import Options


class Setup(Struct, frozen=True):
    """Choices made on the command line, or in the first run's questions."""

    data_dir: Path
    profile: str = "default"
    nick: str | None = None
    channel: str | None = None
    invite: str | None = None
    trace: Path | None = None
    network: Options = field(default_factory=Options)
    wishes: Wishes = field(default_factory=Wishes)
    """Remarks of the start about settings."""
    attended: bool = False
    """Whether a person is there who can be asked."""
    on_slow_line: bool = False
    """Whether they say that the terminal is far away."""

    @property
    def directory(self) -> Path:
        """Directory of the profile."""
        return self.data_dir / self.profile

    @property
    def exists(self) -> bool:
        """True if the profile has been used before."""
        return was_used(self.directory)


def default_nick() -> str:
    """Return the name of this computer's user."""
    import getpass  # who has a name does not wait for it

    try:
        return getpass.getuser()[:NICK_MAX] or "somebody"
    except (OSError, KeyError):
        return "somebody"
