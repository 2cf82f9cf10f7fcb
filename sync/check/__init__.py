"""Proves after a session that both hold the same set, or finds what differs.

It is ours, and stands beneath all protocols: `proof` compares, `descent` finds the differing ids,
`message` and `wire` are the frames, `check` is the machine.
"""
