"""Pure functions over text: safe output, times, names that look alike, links, mentions, emoji."""
