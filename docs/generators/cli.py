"""Prints the reference of the command line as Markdown: docs/cli.md."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click
from schemagen.cli import main
from schemagen.cli.help import FIRST_STEPS, TASKS, Example, Verb, example_lines

_PROGRAM = "schemagen"

_HEAD = """\
# Command line

Every command has `--help`, which shows the same usage, options and examples as this page. No
command asks questions. `python -m schemagen` is the same as `schemagen`. This page is generated
by `python docs/generators/cli.py > docs/cli.md`.
"""

_TAIL = """\
## Exit codes

| code | meaning |
| --- | --- |
| 0 | the command did its work and found nothing wrong |
| 1 | findings: generated code is out of date, schemas break, data is damaged or wrong |
| 2 | the request cannot be carried out: wrong arguments or settings, a schema with errors, files that would be overwritten, or no disk space |
| 3 | a bug in schemagen; the message says what to report |
| 130 | interrupted by Ctrl-C; nothing is half-written |

A warning is printed and does not change the exit code.

## Output

Results go to stdout. Findings for people, progress bars and notes go to stderr.

| `--format` | prints |
| --- | --- |
| `text` | findings for people: place, rule, message, found, expected, what to do |
| `json` | one document on stdout; [findings.schema.json](findings.schema.json), [inspect.schema.json](inspect.schema.json) and [describe.schema.json](describe.schema.json) describe it |
| `github` | workflow commands, which annotate the lines of a pull request ([ci.md](ci.md)) |

On a terminal, a progress bar appears on stderr after a second, and is removed at the end.

## Environment variables

| variable | effect |
| --- | --- |
| `NO_COLOR` | no colors, if it is set to any text |
| `FORCE_COLOR`, `CLICOLOR_FORCE` | colors also in files and pipes, if set to anything but `0`; `NO_COLOR` has priority |
| `CLICOLOR=0`, `TERM=dumb` | no colors; with `TERM=dumb`, no progress bars |
| `CI` | no progress bars and no colors, if it is set; `FORCE_COLOR` turns colors on |
| `COLUMNS` | the width of help texts and of the tables of `inspect` |

Otherwise output has colors on a terminal, and nowhere else.

## Shell completion

Tab completes commands, options, paths, records, ids of rules, and splits. Add one line to the
configuration of your shell:

- bash 4.4 or later, in `~/.bashrc`: `eval "$(_SCHEMAGEN_COMPLETE=bash_source schemagen)"`
- zsh, in `~/.zshrc`: `eval "$(_SCHEMAGEN_COMPLETE=zsh_source schemagen)"`
- fish, in `~/.config/fish/completions/schemagen.fish`:
  `_SCHEMAGEN_COMPLETE=fish_source schemagen | source`

The environment in which schemagen is installed must be active when the shell starts. Otherwise,
write the output of the command in the line to a file once, and have your shell read that file.
"""


def cli_page() -> str:
    """Return the reference of the command line as Markdown."""
    context = click.Context(main, info_name=_PROGRAM)
    parts = [_HEAD, _code(example_lines(FIRST_STEPS)), _table(context)]
    for names in TASKS.values():
        for name in names:
            parts += _sections(main.commands[name], context)
    return "\n".join([*parts, _TAIL])


def _code(lines: list[str]) -> str:
    return "\n".join(["```sh", *lines, "```", ""])


def _table(context: click.Context) -> str:
    """Return a table of the verbs, by task."""
    rows = ["| task | command | what it does |", "| --- | --- | --- |"]
    for task, names in TASKS.items():
        for name in names:
            verb = main.commands[name]
            shown = "" if name != names[0] else task
            link = f"[`{name}`](#{_anchor(name)})"
            rows.append(f"| {shown} | {link} | {verb.get_short_help_str(100)} |")
    return "\n".join([*rows, ""])


def _anchor(title: str) -> str:
    return title.replace(" ", "-")


def _sections(verb: click.Command, parent: click.Context) -> Iterator[str]:
    """Yield the section of a verb, and those of its own verbs."""
    context = click.Context(verb, info_name=verb.name, parent=parent)
    path = context.command_path.removeprefix(f"{_PROGRAM} ")
    yield f"## {path}\n" if " " not in path else f"### {path}\n"
    usage = " ".join([context.command_path, *verb.collect_usage_pieces(context)])
    params = verb.get_params(context)
    yield f"`{usage}`{''.join(_default(each, context) for each in params)}\n"
    yield from _description(verb)
    options = [row for each in params if (row := _option(each, context))]
    if options:
        yield "\n".join(["| option | meaning |", "| --- | --- |", *options, ""])
    if isinstance(verb, Verb):
        examples: list[Example] = verb.examples
        yield _code([line for line in example_lines(examples) if line])
    if isinstance(verb, click.Group):
        for inner in verb.commands.values():
            yield from _sections(inner, context)


def _description(verb: click.Command) -> Iterator[str]:
    """Yield the paragraphs of a help text."""
    for paragraph in inspect.cleandoc(verb.help or "").split("\n\n"):
        yield " ".join(paragraph.split()) + "\n"


def _is_option(param: click.Parameter) -> bool:
    return isinstance(param, click.Option)


def _default(param: click.Parameter, context: click.Context) -> str:
    """Return what an argument is if it is left out; "" for options."""
    default = param.get_default(context)
    if _is_option(param) or not isinstance(default, str):
        return ""
    return f"; {param.make_metavar(context).strip('[]')} is `{default}` by default"


def _option(param: click.Parameter, context: click.Context) -> str:
    """Return the row of an option; "" for an argument, a hidden option and --help."""
    record = param.get_help_record(context) if _is_option(param) else None
    if record is None or "--help" in param.opts:
        return ""
    names, text = (" ".join(each.split()) for each in record)
    # In a table "|" would need a backslash, which some renderers print within code.
    choices = re.sub(r"\[?(\S*\|\S*?)\]?$", r"{\1}", names).replace("|", ",")
    return f"| `{choices}` | {text.replace('|', '&#124;')} |"


if __name__ == "__main__":
    print(cli_page(), end="")
