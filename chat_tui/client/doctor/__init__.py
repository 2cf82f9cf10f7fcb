"""The doctor: tests of what the chat needs and of every stored message, open or closed."""
