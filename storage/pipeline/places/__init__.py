"""Places of inputs and results: paths and URIs."""
