"""What Python workers need: icesql's own code shipped, modules imported once."""
