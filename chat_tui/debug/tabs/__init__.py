"""The tabs of the debug pane, one file each."""
