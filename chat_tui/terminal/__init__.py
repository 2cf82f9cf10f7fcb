"""The terminal: driver, signals, key order, character sets, themes, alerts."""
