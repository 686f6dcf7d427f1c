"""Spark's DataFrame readers, writers and ``spark.catalog`` over our tables."""
