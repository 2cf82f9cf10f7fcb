"""The rules of inputs by their types: whose share they are of, their turns, and what outlives what.

One table decides for the queue, its weights, the runner and the engine. Whatever a peer causes has
a share that bounds it, or a reason why it is bounded anyway; and it is let go while the disk
refuses, or kept as the newest of its kind.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from sync.group import values
from sync.machine import Tick

Kind: TypeAlias = type[values.Input]


class Line(Enum):
    """Inputs of a peer whose bytes count together, and that keep their order."""

    LINK = "link"
    """Frames of its link, and questions and answers of catch-ups."""
    TRANSFERS = "transfers"
    """Messages of its transfers, and behind them news of its links."""
    SESSIONS = "sessions"
    """Payloads of its sessions; the bytes of each session count by themselves."""


class Content(Enum):
    """The part of an input that is of a peer's making, and has a size."""

    NONE = "none"
    PAYLOAD = "payload"
    CONTENTS = "contents"


class Ill(Enum):
    """Fate of an input that comes while the disk refuses."""

    WAITS = "waits"
    LET_GO = "let go"
    """Reconciliation and heartbeats bring it again, or it is of a session that is over."""
    NEWEST = "newest"
    """The newest of a channel and peer waits."""
    WHILE_LINKED = "while linked"
    """The same, as long as the peer has its link."""


class Rule(Struct, frozen=True):
    """The rule of one type of inputs.

    Attributes:
        from_peer: whether peers decide how many there are.
        line: where it waits its turn.
        shares: whether it is weighed, and kept to the rate of its line; else it only waits behind
            what of its line waits already.
        content: what is weighed beside the input itself.
        ill: what becomes of it while the disk refuses.
        survives: whether it stays valid for machines made anew, whose sessions are gone.
        refusable: whether a full queue refuses it: somebody hears of that, or it comes again.
        bounded: why a peer cannot cause many, where they have no share.
    """

    from_peer: bool = False
    line: Line | None = None
    shares: bool = False
    content: Content = Content.NONE
    ill: Ill = Ill.WAITS
    survives: bool = False
    refusable: bool = False
    bounded: str = ""


def _said(
    content: Content,
    line: Line = Line.LINK,
    ill: Ill = Ill.LET_GO,
    *,
    survives: bool = False,
    refusable: bool = True,
) -> Rule:
    """Return the rule of what a peer says as often as it likes."""
    return Rule(
        from_peer=True,
        line=line,
        shares=True,
        content=content,
        ill=ill,
        survives=survives,
        refusable=refusable,
    )


def _told_once(bounded: str, line: Line | None, ill: Ill, *, refusable: bool = False) -> Rule:
    """Return the rule of what is told once of something that has a bound of its own."""
    survives = ill is not Ill.LET_GO
    return Rule(
        from_peer=True, line=line, ill=ill, survives=survives, refusable=refusable, bounded=bounded
    )


_OF_LINKS: Final = "once a link, and links have places"
_OF_STREAMS: Final = "once a stream, and streams have places"

_WISH: Final = Rule(survives=True, refusable=True)
"""A wish of the person, who hears of it if it is refused."""

_READ: Final = Rule()
"""An answer to the machines, once for each time that they asked."""

_OF_SESSION: Final = Rule(ill=Ill.LET_GO)
"""The same for a session, which is over by the time the disk takes changes again."""

RULES: Final[dict[Kind, Rule]] = {
    # What peers say
    values.Arrived: _said(Content.PAYLOAD, survives=True),
    values.LogsAnnounced: _said(Content.PAYLOAD, ill=Ill.WHILE_LINKED, survives=True),
    values.StateArrived: _said(Content.CONTENTS),
    values.RootTold: _said(Content.NONE),
    values.OpsArrived: _said(Content.CONTENTS),
    values.HeartbeatArrived: _said(Content.PAYLOAD),
    values.OpsRequested: _said(Content.PAYLOAD),
    values.OpsAnswered: _said(Content.PAYLOAD),
    values.OpsOffered: _said(Content.NONE, ill=Ill.NEWEST, survives=True),
    # Said in presences, as often as a peer likes; at the end of its link nobody says it again.
    values.GovernanceLinked: _said(Content.NONE, ill=Ill.NEWEST, survives=True, refusable=False),
    values.Transferred: _said(Content.PAYLOAD, Line.TRANSFERS),
    values.SessionPayload: _said(Content.PAYLOAD, Line.SESSIONS),
    # What is told once of links and streams
    values.PeerJoined: _told_once(_OF_LINKS, Line.TRANSFERS, Ill.WHILE_LINKED),
    values.PeerAnnounced: _told_once(_OF_LINKS, Line.TRANSFERS, Ill.WHILE_LINKED),
    values.PeerGone: _told_once(_OF_LINKS, Line.TRANSFERS, Ill.NEWEST),
    values.MemberClock: _told_once("once a pong, for which we ask", None, Ill.WHILE_LINKED),
    values.TransferEnded: _told_once(_OF_STREAMS, Line.TRANSFERS, Ill.LET_GO),
    values.SessionOffered: _told_once(_OF_STREAMS, None, Ill.LET_GO, refusable=True),
    values.SessionClosed: _told_once(_OF_STREAMS, Line.SESSIONS, Ill.LET_GO),
    values.OpsUnanswered: _told_once("once a request of ours", None, Ill.LET_GO),
    # What the person wants
    values.Write: _WISH,
    values.Act: _WISH,
    values.SetState: _WISH,
    values.SendAgain: _WISH,
    values.AskAgain: _WISH,
    values.ClockAnswered: _WISH,
    values.Typing: Rule(refusable=True),
    # What the node finds, and its machines want of each other
    values.Damaged: Rule(survives=True),
    values.Audience: Rule(survives=True),
    values.Restored: Rule(),
    values.OwnClock: Rule(),
    values.ReferenceClock: Rule(),
    values.Retrieved: _READ,
    values.HeldBackLoaded: _READ,
    values.AuthorsLoaded: _READ,
    values.OpsLoaded: _READ,
    values.HeldLoaded: _READ,
    values.AnswersChecked: _READ,
    values.SessionOpened: _OF_SESSION,
    values.EntriesLoaded: _OF_SESSION,
    values.PageChecked: _OF_SESSION,
    values.StartSession: _OF_SESSION,
    values.Continue: _OF_SESSION,
    values.LinksTimed: Rule(survives=True),
    values.HistoryExpected: Rule(),
    values.SnapshotSwapped: Rule(),
    Tick: Rule(),
}
"""All inputs. What is asked of each of thousands a second stands below, in sets of types."""


OWN: Final = (values.Write, values.Act, values.SetState)
"""Inputs that somebody waits for."""


def _with(asks: Callable[[Rule], bool]) -> frozenset[Kind]:
    return frozenset([kind for kind, rule in RULES.items() if asks(rule)])


SHARING: Final = _with(lambda rule: rule.shares)
OF_LINKS: Final = _with(lambda rule: rule.shares and rule.line is Line.LINK)
OF_TRANSFERS: Final = _with(lambda rule: rule.shares and rule.line is Line.TRANSFERS)

FOLLOWING: Final = {
    kind: rule.line for kind, rule in RULES.items() if rule.line is not None and not rule.shares
}
"""Lines behind which inputs wait that have no share."""

PAYLOADS: Final = _with(lambda rule: rule.content is Content.PAYLOAD)
LISTS: Final = _with(lambda rule: rule.content is Content.CONTENTS)
SURVIVORS: Final = _with(lambda rule: rule.survives)
REFUSABLE: Final = _with(lambda rule: rule.refusable)

KEPT_NEWEST: Final = _with(lambda rule: rule.ill in (Ill.NEWEST, Ill.WHILE_LINKED))
"""Inputs with a peer of which only the newest counts."""

VOID_ONCE_GONE: Final = _with(lambda rule: rule.ill is Ill.WHILE_LINKED)
"""Of these, what means nothing any more once the peer is gone."""
