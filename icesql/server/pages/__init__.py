"""The web page at ``/``: tables, their snapshots, what a filter prunes, and the latest events."""
