"""The transcript widget: lays out rows, draws them, and acts on the selected message."""
