"""The contents of the transcript, without drawing: rows, paging, search hits, read positions."""
