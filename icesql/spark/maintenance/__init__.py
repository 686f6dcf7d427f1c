"""Maintenance jobs that Spark runs: rewrites, listings, imports, statistics."""
