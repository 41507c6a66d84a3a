"""Templates: where they are, and text out of them. Nothing else knows Jinja."""
