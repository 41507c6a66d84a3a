"""Data directories: files, locks and manifests."""
