"""Places of inputs and results: local paths, and URIs through the Hadoop of the session."""
