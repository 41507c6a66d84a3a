"""The same schemas give the same code on every machine, however they were checked out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
import schemagen
from command_line import SETTINGS

from .generated_records import files_of, random_records, source_of

pytestmark = pytest.mark.slow

PACKAGE = Path(schemagen.__file__).parent
FORMATS = Path(__file__).parents[1] / "formats" / "schemas"

# Docstrings whose blanks Python versions treat differently, and no ASCII.
DOCS = '''\
from typing import Annotated

from schemagen import Label, Record, Scalar


class Size(Record):
\t"""Wie groß: 鍵, 🦊.

\t    Deeper, behind a tab.
        As deep, behind blanks.
\t\tTwo tabs.

    Less deep, with blanks behind.   \t
\t"""

\tmass: Annotated[float, Scalar(dtype="float32", key="maß")]
\t"""In Metern.

\t  Deeper.
    Not so deep.
\t"""

\tkind_: Annotated[int, Label(vocabulary="arten.txt")] = 0
\t"""Eine der Arten,
\tauf zwei Zeilen."""
'''

Files = Mapping[str, bytes]


def sources() -> dict[str, bytes]:
    """Return the files of a project with records of every kind."""
    texts = {
        "pyproject.toml": SETTINGS.format("output"),
        "schemas/records.py": source_of(random_records()),
        "schemas/docs.py": DOCS,
        "schemas/arten.txt": "Łoś\nElch\n",
    }
    for name, text in files_of(random_records()).items():
        texts[f"schemas/{name}"] = text
    files = {name: text.encode() for name, text in texts.items()}
    for path in sorted(FORMATS.rglob("*.*")):
        if path.suffix in (".py", ".txt"):
            name = path.relative_to(FORMATS).as_posix()
            files[f"schemas/{name}"] = path.read_bytes()
    return files


def checked_out(root: Path, files: Files) -> Path:
    """Write a project's files."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def output(root: Path) -> dict[str, bytes]:
    """Return the generated files."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / "output").rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def generated(
    root: Path,
    *,
    python: str = sys.executable,
    package: Path = PACKAGE,
    directory: str = ".",
    cwd: Path | None = None,
    umask: int = 0o022,
    **environment: str,
) -> dict[str, bytes]:
    """Generate in a new process and return the files."""
    done = subprocess.run(
        [python, "-m", "schemagen", "generate", "--project", directory],
        cwd=cwd or root,
        env={**os.environ, "PYTHONPATH": str(package.parent), **environment},
        umask=umask,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return output(root)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What is generated in the ordinary way."""
    root = checked_out(tmp_path_factory.mktemp("ordinary"), sources())
    schemagen.generate(root)
    found = output(root)
    assert len(found) > 200
    assert b"Deeper, behind a tab" in found["output/size/serializer.py"]
    assert "Łoś".encode() in found["output/size/serializer.py"]
    return found


def unix(data: bytes) -> bytes:
    return data


def windows(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def marked_windows(data: bytes) -> bytes:
    return b"\xef\xbb\xbf" + windows(data)


# how the files of a project come out of a checkout or an editor
CHECKOUTS = {"CRLF": windows, "CRLF and a byte order mark": marked_windows}


@pytest.mark.parametrize("how", CHECKOUTS)
def test_how_schemas_are_checked_out_does_not_show(
    tmp_path: Path, expected: Files, how: str
) -> None:
    """Line ends and byte order marks of schemas and of the files that they name."""
    files = {
        name: data if name == "pyproject.toml" else CHECKOUTS[how](data)
        for name, data in sources().items()
    }
    root = checked_out(tmp_path / "project", files)
    schemagen.generate(root)
    assert output(root) == expected


def test_settings_with_crlf_are_the_same_settings(tmp_path: Path) -> None:
    """Also their constants, which schemas read."""
    schema = (
        "import schemagen\nN = schemagen.constants(__file__)\n"
        "class Pet(schemagen.Record):\n    __doc__ = N['text']\n    age: int\n"
    )
    text = SETTINGS.format("output")
    text += '[tool.schemagen.constants]\ntext = """\none\ntwo"""\n'
    found = [
        generated(
            checked_out(
                tmp_path / str(number),
                {
                    "pyproject.toml": change(text.encode()),
                    "schemas/p.py": schema.encode(),
                },
            )
        )
        for number, change in enumerate((unix, windows))
    ]
    assert found[0] == found[1]


def test_how_schemagen_is_checked_out_does_not_show(
    tmp_path: Path, expected: Files
) -> None:
    """CRLF in its templates and in the code that it copies."""
    copy = tmp_path / "checkout" / "schemagen"
    templates = PACKAGE.parent / "templates"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, copy, ignore=ignored)
    if templates.is_dir():
        shutil.copytree(templates, copy.parent / "templates", ignore=ignored)
    for path in sorted(copy.parent.rglob("*.*")):
        if path.is_file():
            path.write_bytes(windows(path.read_bytes()))
    root = checked_out(tmp_path / "project", sources())
    assert generated(root, package=copy) == expected


def test_where_a_process_runs_does_not_show(tmp_path: Path, expected: Files) -> None:
    """Hash seed, locale, encoding, rights, working directory, a link to the project."""
    root = checked_out(tmp_path / "some" / "project", sources())
    link = tmp_path / "link"
    link.symlink_to(root)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    found = generated(
        root,
        directory="../link",
        cwd=elsewhere,
        umask=0o077,
        PYTHONHASHSEED="7",
        LC_ALL="C",
        LANG="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
        TZ="Asia/Kathmandu",
    )
    assert found == expected


@cache
def other_pythons() -> tuple[str, ...]:
    """Return the interpreters of other versions here that can import what it takes."""
    program = (
        "import sys, click, jinja2, numpy, pydantic\n"
        "assert sys.version_info >= (3, 11)\nprint(sys.version_info[:2])"
    )
    own = repr(sys.version_info[:2])
    found: dict[str, str] = {}
    for python in _interpreters():
        done = subprocess.run(
            [python, "-c", program], capture_output=True, text=True, check=False
        )
        version = done.stdout.strip()
        if done.returncode == 0 and version != own:
            found.setdefault(version, python)
    return tuple(found.values())


def _interpreters() -> Iterator[str]:
    """Yield Pythons: those that SCHEMAGEN_PYTHONS names, and those that are installed."""
    yield from filter(None, os.environ.get("SCHEMAGEN_PYTHONS", "").split(os.pathsep))
    for name in ("python3", *(f"python3.{minor}" for minor in range(11, 20))):
        python = shutil.which(name)
        if python:
            yield python
    roots = (".pyenv/versions", ".local/share/uv/python")
    for root in roots:
        yield from map(str, sorted(Path.home().glob(f"{root}/*/bin/python")))


def test_the_version_of_python_does_not_show(tmp_path: Path, expected: Files) -> None:
    """Every version that is here and has the packages makes the same bytes."""
    if not other_pythons():
        pytest.skip(
            "no other Python here has the packages; name some in SCHEMAGEN_PYTHONS"
        )
    for number, python in enumerate(other_pythons()):
        root = checked_out(tmp_path / str(number), sources())
        assert generated(root, python=python) == expected, python


def test_a_narrow_encoding_ends_no_run(tmp_path: Path) -> None:
    """What the output's encoding lacks is shown escaped."""
    schema = 'from schemagen import Record\n\nclass Pet(Record):\n    """Größe 鍵"""\n    age: {}  # 鍵\n'
    root = checked_out(
        tmp_path,
        {
            "pyproject.toml": SETTINGS.format("output").encode(),
            "schemas/p.py": schema.format("int").encode(),
        },
    )
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "schemagen", *arguments]
        return subprocess.run(
            command, cwd=root, env=environment, capture_output=True, check=False
        )

    assert "Größe \\u9375".encode("latin-1") in run("check", "--diff").stdout
    assert run("generate").returncode == 0
    assert run("describe").returncode == 0
    (root / "schemas/p.py").write_text(schema.format("dict"), encoding="utf-8")
    done = run("check")
    assert done.returncode == 2
    assert b"age: dict  # \\u9375" in done.stderr
