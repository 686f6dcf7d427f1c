"""One builder a file for every change of a table; each answers ``apply`` with updates and requirements."""
