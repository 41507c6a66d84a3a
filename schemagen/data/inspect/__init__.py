"""What files hold, without a schema: for a terminal, and as JSON."""
