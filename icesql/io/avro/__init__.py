"""Avro: containers, blocks, and values as rows or as columns."""
