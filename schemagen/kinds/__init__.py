"""The kinds of fields: one module a kind."""
