"""Table metadata as a value: creating it, checking it, and folding updates into it."""
