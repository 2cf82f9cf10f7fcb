"""Tests of the places of inputs and results."""
