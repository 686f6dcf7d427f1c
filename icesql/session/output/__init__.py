"""Results for people: rows as text, pruning as lines and pictures, commands' own rows."""
