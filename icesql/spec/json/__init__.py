"""The JSON forms of metadata, views, types and values."""
