"""The example scripts, and the preparation that one of them needs."""
