"""DELETE, UPDATE and MERGE: the affected rows become one commit, copy-on-write or merge-on-read."""
