"""Iceberg's REST catalog as a server: it builds snapshots from files, commits together what comes together, and tells of each change."""
