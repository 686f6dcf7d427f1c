"""Starting Spark: which Java runs it, and how its JVM is started on that."""
