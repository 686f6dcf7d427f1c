"""Column metrics of data files, whatever their format, and the check of what was written."""
