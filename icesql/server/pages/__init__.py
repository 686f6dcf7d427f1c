"""The web page of a server: its tables, their snapshots, what a filter prunes, and the latest events."""
