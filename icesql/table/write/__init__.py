"""Writing a table without Spark: Arrow rows into data files, existing files into the table."""
