"""Reads of tables as Spark plans: kept by what they read, and told the newest version each time they run."""
