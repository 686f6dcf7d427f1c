"""Where bytes live: stores, locations, and writing so that what was acknowledged stays."""
