"""Functions that a Spark session gets from us or that stand for its columns in SQL text; partition transforms and literals for Spark."""
