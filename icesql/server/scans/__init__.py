"""Scans that the server plans: in parts that any of its processes can make, or while the client waits elsewhere."""
