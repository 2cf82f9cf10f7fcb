"""Search: lines found by words, people, days and links, from disk."""
