"""The UI's view of the engine: snapshots, events, frames, message details, the causal graph."""
