"""The client of REST catalogs: the protocol, authentication, commits and their outcomes, credentials, scan planning."""
