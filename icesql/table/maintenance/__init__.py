"""Work on a table's files that changes no row: rewrites, statistics, orphan files, imports."""
