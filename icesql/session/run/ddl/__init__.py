"""Statements that make, change and drop tables, views and namespaces."""
