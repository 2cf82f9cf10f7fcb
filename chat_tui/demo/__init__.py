"""The demo: real engines on a simulated network, told in sentences, step by step and back."""
