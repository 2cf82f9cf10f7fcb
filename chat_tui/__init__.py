"""What a person sees and types: the screen, line mode, the command line."""
