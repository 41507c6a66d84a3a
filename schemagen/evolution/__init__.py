"""Whether a schema's change is safe: specs against specs."""
