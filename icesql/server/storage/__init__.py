"""What the server keeps in the catalog's database beside the names, written in the transaction of the change it belongs to."""
