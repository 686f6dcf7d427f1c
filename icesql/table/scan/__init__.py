"""Reading a table: snapshots selected, files planned in columns, deletes matched, rows read as Arrow."""
