"""Pasts with holes, of two who are about to meet."""
