"""One machine or one mesh alone, driven by hand."""
