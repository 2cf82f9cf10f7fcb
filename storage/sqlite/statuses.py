"""Message status as a number in SQLite; apart, so that paging history needs no machines."""

from typing import Final

from sync.group.status import Status

STATUS: Final = {Status.DELIVERED: 0, Status.WAITING: 1, Status.PARKED: 2, Status.LOADING: 3}
STATUS_OF: Final = {number: status for status, number in STATUS.items()}
