"""Statements that change rows: INSERT, DELETE, UPDATE, MERGE, and the commits that take them in."""
