"""The behaviour that every catalog shows, with a catalog of Nessie: with keys of our own, and with requests that Nessie signs."""

from tests.catalog.test_behaviour import *
