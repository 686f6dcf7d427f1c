"""Data files of every format: written, read, counted."""
