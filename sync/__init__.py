"""What peers say to each other: protocols as state machines without IO, and what drives them."""
