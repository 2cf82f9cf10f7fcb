"""Structures that protocols share: Bloom filters, ordered sets, digests, encodings, limits."""
