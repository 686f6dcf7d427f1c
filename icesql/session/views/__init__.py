"""Temporary views and functions over our tables, kept as text and created anew when a table changes; views as targets of statements."""
