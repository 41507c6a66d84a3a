"""What all parts of the runtime use: values, wire format, framing, specs as JSON."""
