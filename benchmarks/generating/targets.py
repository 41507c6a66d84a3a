"""What generating is to reach, and what the ways of it are called."""

from __future__ import annotations

GENERATE = "ours, generate"
CHANGED = "ours, generate after a change of one schema"
CHECK = "ours, check"
IMPORTS = "Python, with what ours imports"
A = "(a) protoc with its Python plugin"
B = "(b) datamodel-code-generator"
B_BUILTIN = "(b) with its built-in formatter"
B_CHECK = "(b) with its built-in formatter, --check"

GOALS: dict[tuple[str, str], float] = {(GENERATE, "100"): 2.0, (CHECK, "100"): 1.0}
"""Seconds, by way and number of schemas."""

GROWTH = 1.25
"""How much more the last schemas may cost than the first ones."""
