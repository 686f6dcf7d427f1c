"""Queries, EXPLAIN, and the scripts and texts that hold queries."""
