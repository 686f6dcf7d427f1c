"""The manifests of a snapshot: looked up, written, filtered, merged, and the locations of their files."""
