"""Asking a Python of its own for the features in a user's module."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ....runtime.shared.errors import did_you_mean
from ..outcome import Missing, Unreadable

Features = Mapping[str, Mapping[str, Any]]

_EXPECTED = "a dict from keys to tf.io features, or a pair of them for SequenceExamples"


def read_features(target: str) -> tuple[Features, ...]:
    """Import a module and return the features that stand under a name in it.

    Args:
        target: "file.py:NAME" or "package.module:NAME".

    Returns:
        The features of an Example; or those of a SequenceExample's context and those of
        its steps.

    Raises:
        Unreadable: no such module or name, or something else stands there.
        Missing: the module imports tensorflow, which is not installed.
    """
    where, colon, name = target.rpartition(":")
    if not colon or not where or not name:
        raise Unreadable(
            "it does not say where the dict stands",
            found=target,
            expected="file.py:NAME or package.module:NAME",
        )
    if where.endswith(".py") and not Path(where).is_file():
        raise Unreadable(f"there is no file {where}", advice="check the path")
    answer = _asked(target)
    if answer.get("missing") == "tensorflow":
        raise Missing(
            "tensorflow", f"importing {where}", 'pip install "schemagen[tensorflow]"'
        )
    if "failed" in answer:
        raise Unreadable(f"{where} cannot be imported", found=answer["failed"])
    if "unknown" in answer:
        raise Unreadable(
            f"{where} has no {answer['unknown']!r}",
            expected=_EXPECTED,
            advice=did_you_mean(answer["unknown"], answer["known"]),
        )
    if "strange" in answer:
        raise Unreadable(
            f"{name} is no feature spec", found=answer["strange"], expected=_EXPECTED
        )
    return tuple(answer["features"])


def _asked(target: str) -> dict[str, Any]:
    program = Path(__file__).with_name("child.py").read_text(encoding="utf-8")
    with TemporaryDirectory() as directory:
        out = Path(directory) / "features.json"
        done = subprocess.run(
            [sys.executable, "-c", program, target, str(out)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
        )
        try:
            answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            last = done.stderr.strip().rpartition("\n")[2]
            said = last or f"exit code {done.returncode}"
            raise Unreadable(
                "the program that imports it has died", found=said
            ) from None
    return answer
