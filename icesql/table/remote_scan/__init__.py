"""Server-side scan planning as values, and their JSON in the REST protocol: what a client asks for, and what a server answers."""
