"""The user's text itself: tokens, places, references, and edits that leave the rest as it was written."""
