"""Finding messages among a million: a history that large, and how long each search takes."""
