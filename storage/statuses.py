"""How the status of a message looks in SQLite; what only pages history needs no machines for it."""

from typing import Final

from sync.group.records import Status

STATUS: Final = {Status.DELIVERED: 0, Status.WAITING: 1, Status.PARKED: 2, Status.LOADING: 3}
STATUS_OF: Final = {number: status for status, number in STATUS.items()}
