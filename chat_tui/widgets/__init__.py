"""Widgets that several screens use: panels, header, status line, composer, completion."""
