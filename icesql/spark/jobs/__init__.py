"""What a statement does in Spark while it runs: its group of jobs, their stages, and what they have written."""
