"""Table metadata as a value: made, checked, and changed by folding updates into it."""
