"""Object stores (S3, GCS, Azure): Iceberg's FileIO keys, credentials, requests with retries, and files over them."""
