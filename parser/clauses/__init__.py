"""Grammars of text that is part of no statement: filters and sort orders, as procedures and writers are given them."""
