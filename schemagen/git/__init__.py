"""What schemagen knows of git: attributes, what is tracked, where a repository is."""
