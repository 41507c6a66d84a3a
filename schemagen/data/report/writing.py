"""The report: one HTML file about data, which needs no other file."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...atomic_write import write_whole
from ...findings import COMMAND_LINE, refused
from ...runtime.interface import install
from ..formatting import number, one_line, plural, share, size
from ..profile.profile import Profile

if TYPE_CHECKING:
    from ..profile.diff import Diff
    from ..verify.verification import Verification

_MARK = b'<meta name="generator" content="schemagen inspect">'


def check_target(path: str | os.PathLike[str]) -> None:
    """See that a report can be made and may be written there, before data is read.

    Raises:
        SchemagenError: a package is not installed; the directory does not exist; or the
            file is not a report.
    """
    target = Path(path)
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise refused(
            COMMAND_LINE,
            "an HTML report needs vl-convert-python, which is not installed",
            rule="SG407",
            advice=f"run `{install('report')}`",
        ) from None
    if not target.parent.is_dir():
        raise refused(target, f"directory {target.parent} does not exist", rule="SG441")
    if target.exists() and not _replaceable(target):
        raise refused(
            target,
            "this file is not a report of schemagen, and is left as it is",
            rule="SG441",
            advice="delete it, or choose another name",
        )


def _replaceable(target: Path) -> bool:
    """Tell empty files and earlier reports from other files."""
    try:
        with target.open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    return not start or _MARK in start


def write_report(
    path: str | os.PathLike[str],
    profile: Profile,
    verification: Verification | None,
    diff: Diff | None = None,
) -> int:
    """Write a report; an earlier one is replaced when the new one is whole.

    Args:
        path: the file.
        profile: of the data.
        verification: the result of `verify`; None without it.
        diff: of two datasets, of which the profile is; None for one.

    Returns:
        The file's size in bytes.

    Raises:
        SchemagenError: as `check_target` says, or the file cannot be written.
    """
    check_target(path)
    text = _html(profile, verification, diff).encode()
    write_whole(Path(path), text)
    return len(text)


def _html(
    profile: Profile, verification: Verification | None, diff: Diff | None
) -> str:
    """Return the page, with all text of data escaped.

    Its policy allows pictures with data URLs, and the style sheet and the script with
    these hashes. Nothing else in it can load or run.
    """
    # This imports packages that a report needs, and other commands do not.
    from .charts import SERIES, series
    from .page import page_values, whole

    style = _source("style.css")
    script = _source("script.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    environment = Environment(
        loader=PackageLoader(__package__, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "basename": os.path.basename,
        "thousands": "{:,}".format,
        "number": number,
        "one_line": one_line,
        "plural": plural,
        "series": series,
        "share": share,
        "size": size,
        "whole": whole,
    }
    return environment.get_template("page.html.jinja").render(
        page_values(profile, verification, diff),
        drawn=SERIES,
        policy=policy,
        style=Markup(style),
        script=Markup(script),
    )


def _source(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
