"""The debug pane: what stands in each of its tabs, as lines and in words, without a terminal."""
