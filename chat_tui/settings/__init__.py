"""What a person may set: the table of it, the files it is kept in, what is true now."""
