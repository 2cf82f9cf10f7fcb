"""Key bindings: the table of all keys, their names, and the list that help prints."""
