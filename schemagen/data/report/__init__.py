"""One HTML page about data, for people."""
