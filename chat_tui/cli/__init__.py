"""The command line: commands, their options, and the way the chat starts."""
