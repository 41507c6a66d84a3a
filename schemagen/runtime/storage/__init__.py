"""Data directories: files, locks, manifests and journals."""
