"""The debug pane: the contents of its tabs as lines and in words, and the pane itself."""
