"""Relation plans of table reads, cached by table version; those of unpinned reads ask for the newest version each time they run."""
