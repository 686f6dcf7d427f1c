"""Views and functions of the session over our tables: kept by their text, made again when a table below has changed; views as targets."""
