"""Streams of tables as Spark's Python data source."""
