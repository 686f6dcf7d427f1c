"""REST catalogs: servers that the tests start, and what is asked of the client against them."""
