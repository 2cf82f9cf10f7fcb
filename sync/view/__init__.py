"""The UI's view of the engine: snapshots, events, frames, messages, the causal graph."""
