"""Arrow tables by field id: types, projection, filters, sizes and metrics."""
