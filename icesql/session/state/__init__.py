"""What a session holds between statements: catalogs, current names, transaction, frames. Knows no statement."""
