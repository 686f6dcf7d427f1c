"""What a session holds between statements: catalogs, current names, settings, the transaction. Knows no statement."""
