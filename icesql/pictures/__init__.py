"""Pictures of tables as SVG: snapshots as a tree, and what pruning leaves; for notebooks and for the server's page."""
