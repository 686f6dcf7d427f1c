"""ORC data files: what pyarrow cannot say about their layout and times."""
