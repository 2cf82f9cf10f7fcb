"""The check of a snapshot's page as an answer to whoever asked for it."""

from collections.abc import Callable

from sync.calimero.log.snapshot_pages import check_page, wait_for_nothing
from sync.errors import RemoteError
from sync.group.ingest import Gate
from sync.machine import PeerId
from sync.sessions.page_values import CheckPage, PageChecked


def checked_page(
    gate: Gate,
    me: PeerId,
    wanted: CheckPage,
    stand_aside: Callable[[], None] = wait_for_nothing,
) -> PageChecked:
    """Return the outcome of a check; pure, so that drivers may run it in a thread."""
    try:
        page = check_page(gate, me, wanted.payload, stand_aside)
    except RemoteError as error:
        return PageChecked(wanted.session, wanted.number, None, str(error))
    return PageChecked(wanted.session, wanted.number, page)
