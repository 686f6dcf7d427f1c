"""From a commit's body to new metadata: updates, produce-snapshot, and commits to one table made together."""
