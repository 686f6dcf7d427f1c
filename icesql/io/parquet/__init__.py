"""Parquet data files: reading, dictionaries and metrics."""
