"""From trees of the dialect to the frozen statements that the session works with."""
