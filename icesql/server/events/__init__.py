"""What has changed, told in order: kept in the transaction of the change, read by cursor, pushed to a webhook."""
