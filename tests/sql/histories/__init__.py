"""Random histories: seeded SQL on a table, and a plain model of rows that gets the same changes."""
