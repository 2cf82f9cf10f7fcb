"""Governed channels on a live node: acts with all that is drawn, secrets, codes, and their links.

`governance_links` hears of ops from the mesh and the machines; `governing` drives what the person
does, and what follows from ops in `epochs` (secrets) and `entering` (codes).
"""
