"""Our engines at one end of a line, other people's published programs at the other."""
