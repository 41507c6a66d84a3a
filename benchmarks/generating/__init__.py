"""Generating: ours against protoc and datamodel-code-generator, as whole processes."""
