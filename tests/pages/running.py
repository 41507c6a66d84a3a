"""Runs pages of the documentation as a reader does who pastes each block, in order.

- `python` is one program; a comment behind a `print(...)` is what it prints. A block of any language whose first line is a comment with the name
  of a file, or that has a comment `<!-- file: NAME -->` above it, is saved under this name.
- `sh` are commands. They succeed, or end with exit code 1 where the page shows what they print.
- `text` is what the block before it prints; `...` at the end of a line omits text.

Other blocks do not run.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

Names = dict[str, Any]

_FENCE = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
_SENTENCE = re.compile(r"`(?P<text>schemagen [^`]+)`")
_COMMENT = re.compile(r"^ *print\(.*\)  # (.*)$", re.M)
_COMMIT = re.compile(r"\([0-9a-f]{10}\)")
_RUN = ("python", "sh", "text")
_LANGUAGES = {"py": "python"}


@dataclass(frozen=True)
class Run:
    """Pages that run one after the other in one directory, which is empty at first.

    Attributes:
        pages: their names, without `.md`.
        section: the heading of the only section that runs. Files of all sections are saved.
        at: what happens where a page says some words, by the words; "" is the beginning.
        after: checks what the pages have left behind; it takes the names of the program.
        not_run: why blocks do not run, by their first words.
        finds: words of commands that end with exit code 1, and whose output is not shown.
        schemas: whether each Python block is a schema file, or has the fields of a record.
        sentences: whether commands in sentences run too, each once.
        whole: whether the pages show all that programs print.
        marks: of the test.
        needs: a package that only one environment has, in which the pages run.
        environment: of the program and the commands.
    """

    pages: tuple[str, ...]
    section: str = ""
    at: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    after: Callable[[Names], object] = dict
    not_run: Mapping[str, str] = field(default_factory=dict)
    finds: tuple[str, ...] = ()
    schemas: bool = False
    sentences: bool = False
    whole: bool = False
    marks: tuple[str, ...] = ()
    needs: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the run among all others."""
        parts = (*self.pages, self.section, self.needs, *self.environment.values())
        return " ".join(filter(None, parts))


class Block(NamedTuple):
    """A block of a page, or a command in a sentence.

    Attributes:
        page: the file.
        line: the number of the line before the text.
        end: where it ends in the page.
        language: of the block; "sh" of a command.
        file: the name to save it under, or "".
        text: what is between the fences.
    """

    page: Path
    line: int
    end: int
    language: str
    file: str
    text: str


def path_of(page: str) -> Path:
    """Return the file of a page."""
    return (ROOT if page == "README" else DOCS) / f"{page}.md"


def blocks_of(page: str, section: str = "", *, sentences: bool = False) -> list[Block]:
    """Return the blocks of a page, or those of a section and the files of all sections."""
    text = path_of(page).read_text(encoding="utf-8")
    start, stop = 0, len(text)
    if section:
        start = text.index(f"\n## {section}\n")
        stop = (text + "\n## ").index("\n## ", start + 1)

    def block(match: re.Match[str], language: str, file: str = "") -> Block:
        line = text.count("\n", 0, match.start("text"))
        return Block(path_of(page), line, match.end(), language, file, match["text"])

    found = []
    for match in _FENCE.finditer(text):
        named = _FILE.match(match["text"])
        file = match["file"] or (named[1] if named else "")
        if file or start <= match.start() < stop:
            language = _LANGUAGES.get(match["language"], match["language"])
            found.append(block(match, language, file))
    if sentences:
        prose = _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        first = {
            match["text"]: match for match in reversed([*_SENTENCE.finditer(prose)])
        }
        found += [block(match, "sh") for match in first.values()]
    return sorted(found, key=lambda each: each.end)


def reason_of(run: Run, block: Block) -> str:
    """Return why a block does not run; "" if it runs, or nothing says why."""
    starts = block.text.startswith
    return next((why for words, why in run.not_run.items() if starts(words)), "")


def can_run(run: Run, block: Block) -> bool:
    """Return whether a block runs unless a table says that it does not."""
    if run.schemas:
        return block.language in ("python", "toml")
    return bool(block.file) or block.language in _RUN


def plain(text: str) -> str:
    """Return a text without what differs between runs, its lines as they may wrap."""
    return " ".join(_COMMIT.sub("(1234567890)", text).split())


def assert_shown(said: str, printed: str) -> None:
    """Assert that a page shows what was printed; `...` at the end of a line omits text."""
    rest = plain(printed)
    for part in re.split(r"\.\.\.$", said, flags=re.M):
        at = rest.find(plain(part))
        assert at >= 0, f"{part}\nis not what was printed:\n{printed}"
        rest = rest[at + len(plain(part)) :]


def perform(run: Run) -> None:
    """Run pages in the current directory."""
    if run.schemas:
        _declare(
            [
                block
                for page in run.pages
                for block in blocks_of(page, run.section)
                if not reason_of(run, block)
            ]
        )
        run.after({})
        return
    happenings = dict(run.at)
    names = sys.modules["__main__"].__dict__
    kept: Names = {}
    for page in run.pages:
        for name in [name for name in names if not name.startswith("__")]:
            del names[name]  # of the page before
        text = path_of(page).read_text(encoding="utf-8")
        blocks = [
            block
            for block in blocks_of(page, run.section, sentences=run.sentences)
            if can_run(run, block) and not reason_of(run, block)
        ]
        out = err = ""
        for block, following in zip_longest(blocks, blocks[1:]):
            for words in [each for each in happenings if each in text[: block.end]]:
                happenings.pop(words)()
            is_shown = following is not None and following.language == "text"
            if block.file:
                path = Path(block.file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
            elif block.language == "sh":
                finds = is_shown or any(words in block.text for words in run.finds)
                out, err = _commands(block.text, may_fail=finds), ""
            elif block.language == "python":
                out, err = _printed_by(_program(block, names))
                for comment in _COMMENT.findall(block.text):
                    assert comment in out, f"{comment} is not what was printed:\n{out}"
            elif run.whole:
                assert plain(block.text) == plain(out)
            else:
                assert_shown(block.text, out + err)
            if run.whole and block.language == "python" and not is_shown:
                assert not out, f"{block.page}:{block.line} also prints: {out}"
        kept.update(names)
    assert not happenings, f"no block comes after {list(happenings)}"
    run.after(kept)


_SCHEMA = """\
from datetime import datetime, timedelta
from enum import Enum
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, Field

from schemagen import *


"""


def _declare(blocks: list[Block]) -> None:
    """Generate the code of schemas: fields are those of one record, other blocks files."""
    settings = "".join(block.text for block in blocks if block.language == "toml")
    Path("pyproject.toml").write_text(f"[tool.schemagen]\n{settings}", encoding="utf-8")
    Path("schemas").mkdir()
    fields = []
    for number, block in enumerate(blocks):
        if block.language != "python":
            continue
        if all(isinstance(node, ast.AnnAssign) for node in ast.parse(block.text).body):
            fields += block.text.splitlines()
        else:
            path = Path("schemas", f"block_{number}.py")
            path.write_text(_SCHEMA + block.text, encoding="utf-8")
    body = "".join(f"    {line}\n" for line in fields)
    record = f"{_SCHEMA}class Every(Record):\n{body}"
    Path("schemas", "every.py").write_text(record, encoding="utf-8")
    _commands("schemagen generate", may_fail=False)


def _commands(text: str, *, may_fail: bool) -> str:
    """Run commands, and return what they print."""
    trap = "worst=0; trap 'code=$?; worst=$((code > worst ? code : worst))' ERR"
    script = f"{trap}\n{text}\nexit $worst"
    done = subprocess.run(
        ["bash", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode in ((0, 1) if may_fail else (0,)), f"{text}\n{done.stdout}"
    return done.stdout


def _program(block: Block, names: Names) -> Callable[[], None]:
    """Return what runs a block; tracebacks have the lines of the page."""
    code = compile("\n" * block.line + block.text, str(block.page), "exec")

    def execute() -> None:
        importlib.invalidate_caches()
        exec(code, names)

    return execute


def _printed_by(call: Callable[[], None]) -> tuple[str, str]:
    """Return what a call prints, also in C: on stdout, and on stderr."""
    streams, kept = (sys.stdout, sys.stderr), (os.dup(1), os.dup(2))
    with TemporaryFile() as out, TemporaryFile() as err:
        for number, file in ((1, out), (2, err)):
            os.dup2(file.fileno(), number)
        try:
            call()
        finally:
            for number, stream in enumerate(streams, 1):
                stream.flush()
                os.dup2(kept[number - 1], number)
                os.close(kept[number - 1])
            for file in (out, err):
                file.seek(0)
            printed = (out.read().decode(), err.read().decode())
            print(*printed, sep="\n", flush=True)  # not into what is printed next
    return printed


def command_of(run: Run) -> list[str]:
    """Return the command that performs a run in the current directory."""
    tests = str(ROOT / "tests")
    program = (
        f"import sys; sys.path += [{tests!r}, {tests + '/pages'!r}]; "
        f"import pages, running; running.perform(pages.named({run.name!r}))"
    )
    return [sys.executable, "-c", program]


def environment_of(run: Run) -> dict[str, str]:
    """Return the environment of a run, in which `schemagen` is a command."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    author = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    # Pages show what a terminal of 80 columns does; a pipe would not wrap lines.
    log = {"TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "80"}
    python = {"PYTHONPATH": str(ROOT), "PATH": path}
    return {**os.environ, **log, **author, **python, **run.environment}
