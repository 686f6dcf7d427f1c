"""A table as a Spark plan: files chosen at planning, deletes applied, versions and columns shown."""
