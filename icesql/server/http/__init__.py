"""Requests and answers of the REST protocol: routes, bodies, errors."""
