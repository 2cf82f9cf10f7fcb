"""Lines with edits, redactions and reactions applied."""

from collections.abc import Sequence

from sync.entries import changes
from sync.entries.changes import encode
from sync.group.values import StoredMessage
from tests.support.sync.entries import Author


def changed(
    author: Author,
    change: changes.Change,
    target: StoredMessage,
    *,
    lamport: int | None = None,
    named: bool = True,
    governance: Sequence[bytes] = (),
) -> StoredMessage:
    """An entry that changes `target`, naming it unless told not to."""
    return author.write(
        kind=changes.kind_of(change),
        body=encode(change),
        after=[target] if named else [],
        lamport=lamport,
        governance=governance,
    )
