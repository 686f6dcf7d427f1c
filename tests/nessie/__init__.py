"""Nessie, a catalog of another house, over S3. ``./dev test-stores`` runs this; ``scripts/fetch_nessie_server.sh`` gets the server."""
