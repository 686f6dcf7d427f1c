"""A parser of Spark's that is a Python object, and the servers through which clients reach it."""
