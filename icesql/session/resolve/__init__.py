"""What a name in a statement leads to: table and snapshot, metadata table, view, path."""
