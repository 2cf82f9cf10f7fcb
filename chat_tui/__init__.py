"""User interface: the screen, line mode, the command line."""
