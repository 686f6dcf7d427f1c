"""Running resolved statements; one module a family."""
