"""`python -m schemagen`."""

from .cli import main

main(prog_name="schemagen")
