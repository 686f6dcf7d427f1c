"""The manifests of a snapshot: found, written, filtered, merged, and where their files go."""
