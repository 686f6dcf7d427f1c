"""From ``ProduceSnapshot``, one value for every write, to a validated snapshot."""
