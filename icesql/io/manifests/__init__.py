"""Manifests and manifest lists, read as columns or entries and written."""
