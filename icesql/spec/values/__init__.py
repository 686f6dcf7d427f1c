"""Single values of every type: bytes, text, literals and times."""
