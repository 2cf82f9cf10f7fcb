"""A protocol of two messages: each side says what it holds, and whether both ends are equal.

It finds nothing and brings nothing; it shows what a protocol needs to be one of those that are
chosen, run, shown, logged and exported: this folder, and an entry in a registry.
"""
