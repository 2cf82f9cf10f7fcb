"""What a channel knows besides its lines: signed registers of each author, and their tree."""
