"""DELETE, UPDATE and MERGE: what they find is turned into one commit, copy-on-write or merge-on-read."""
