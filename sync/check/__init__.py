"""The check after a session: both sides prove that they hold the same set, or find what differs.

It is ours, and stands beneath all protocols: `proof` compares, `descent` finds the differing ids,
`message` and `wire` are the frames, `check` is the machine.
"""
