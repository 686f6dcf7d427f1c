"""Rules that change the user's text in place before Spark sees it, one a file."""
