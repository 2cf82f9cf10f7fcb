"""The last frames of a node, kept as they were after decryption, to be looked at and recorded.

Rules:
1. Only what machines are fed or let out comes here: never a key, a channel secret or an invite.
2. Nothing is decoded here while nobody looks at rates (`sync.view.rates`); whoever looks does that.
"""

import json
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from sync.errors import LocalError
from sync.machine import ChannelId, Nanos, PeerId
from sync.view.rates import Rates, RatesInfo
from sync.view.recording import open_recording
from sync.view.view import FrameInfo, FrameKind

FRAMES_MAX: Final = 500
"""Frames kept: some minutes of a lively chat, and a second of a large reconciliation."""

FRAME_BYTES_MAX: Final = 8 * 1024
"""Bytes kept of one frame: all of nearly every message, and the first ranges of any payload."""

KEPT_BYTES_MAX: Final = 1024 * 1024
"""Bytes kept of all frames together."""

BEGINS: Final = b'{"number": '
"""The first bytes of every line that is recorded."""


class Tap:
    """Keeps the last frames; `note` is all that a frame costs while nobody looks."""

    def __init__(self) -> None:
        self._frames: deque[FrameInfo] = deque(maxlen=FRAMES_MAX)
        self._rates = Rates()
        self._kept = 0
        self._number = 0
        self._file: IO[str] | None = None
        self._written = 0
        self._failure: OSError | None = None
        self.recorded: Path | None = None
        """The file that frames are recorded to."""

    def note_frame(  # the fields of a frame
        self,
        at: Nanos,
        channel: ChannelId,
        peer: PeerId | None,
        kind: FrameKind,
        data: bytes,
        *,
        sent: bool,
    ) -> None:
        """Keep a frame, and record it if that is wanted."""
        self._number += 1
        size = len(data)
        if self._file is not None:
            self._write(FrameInfo(self._number, at, sent, peer, channel, kind, size, data))
        if size > FRAME_BYTES_MAX:
            data = data[:FRAME_BYTES_MAX]
        frames = self._frames
        if len(frames) == FRAMES_MAX:
            self._kept -= len(frames[0].data)
        frame = FrameInfo(self._number, at, sent, peer, channel, kind, size, data)
        frames.append(frame)
        if at < self._rates.watched_until:
            self._rates.note_frame(frame)
        self._kept += len(data)
        while self._kept > KEPT_BYTES_MAX:
            self._kept -= len(frames.popleft().data)

    def frames(self) -> tuple[FrameInfo, ...]:
        """Return the frames that are kept, oldest first."""
        return tuple(self._frames)

    def rates(self, now: Nanos) -> RatesInfo:
        """Return what passed in the last minute; it is counted for as long as somebody asks."""
        return self._rates.look(now, self._frames)

    def record(self, path: Path) -> int:
        """Append every frame from now on to `path`, one JSON object a line.

        Returns how many frames the recording got that ends with this, 0 where there was none.

        Raises:
            LocalError: it cannot be written.
        """
        try:
            file = open_recording(path, BEGINS)
        except OSError as error:
            raise LocalError(
                f"Frames cannot be recorded to {path} ({error.strerror}): name another file."
            ) from error
        except LocalError as error:
            raise LocalError(f"No frames are recorded: {error}. Name another file.") from error
        before = self.stop()
        self._file, self._written, self.recorded = file, 0, path
        return before

    def stop(self) -> int:
        """Close the file; returns how many frames it got."""
        file, self._file, self.recorded = self._file, None, None
        if file is None:
            return 0
        with suppress(OSError):  # the disk is full: what is there is there
            file.close()
        return self._written

    def check(self) -> None:
        """Look whether a recording goes on.

        Raises:
            LocalError: it has ended, since it could not be written; said once.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise LocalError(
                f"The recording of frames has ended after {self._written:,} of them: it cannot be "
                f"written ({failure.strerror}). Free some space, and start again to go on with it."
            )

    def _write(self, frame: FrameInfo) -> None:
        line = {
            "number": frame.number,
            "at": frame.at,
            "way": "out" if frame.sent else "in",
            "peer": frame.peer,
            "channel": frame.channel,
            "kind": frame.kind.value,
            "size": frame.size,
            "hex": frame.data.hex(),
        }
        assert self._file is not None
        try:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
        except OSError as error:  # the chat goes on without it
            self._failure = error
            self.stop()
        else:
            self._written += 1
