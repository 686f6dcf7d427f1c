"""SHOW and DESCRIBE, with Spark's columns and rows."""
