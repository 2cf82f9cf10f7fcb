"""Words and signs for what the engine tells: sentences, glyphs, JSON events, panels."""
