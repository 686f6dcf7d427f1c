"""Access to a table's files that the server hands on to clients without keys: credentials for its folders, and signed requests to S3."""
