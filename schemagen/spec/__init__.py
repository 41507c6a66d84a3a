"""What a record means, apart from how it was declared: the middle of schemagen."""
