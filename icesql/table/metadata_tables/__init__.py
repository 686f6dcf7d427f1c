"""Metadata tables: a table's state as rows. One module a table; ``registry`` lists them."""
