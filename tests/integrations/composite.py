"""Running a composite action as GitHub's runner does, as far as ours needs it.

Expressions are looked up, never computed; `run` scripts are executed by bash with the
runner's own options; `uses` steps are played by functions that return their outputs.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_COMMAND = re.compile(r"^::(error|warning|notice) ?([^\n]*?)::(.*)$", re.M)

Player = Callable[[Mapping[str, str]], dict[str, str]]


@dataclass(frozen=True)
class Annotation:
    """What a job shows at a line of a file."""

    level: str
    file: str
    line: int
    title: str
    message: str


@dataclass(frozen=True)
class Outcome:
    """What came of an action: the exit code that the job gets, and what it printed."""

    exit_code: int
    output: str

    @property
    def annotations(self) -> list[Annotation]:
        """The annotations that the printed workflow commands make."""
        found = []
        for level, text, message in _COMMAND.findall(self.output):
            pairs = (pair.partition("=") for pair in text.split(",") if pair)
            of = {name: _plain(value) for name, _, value in pairs}
            found.append(
                Annotation(
                    level,
                    of.get("file", ""),
                    int(of.get("line", "0")),
                    of.get("title", ""),
                    _plain(message),
                )
            )
        return found


def _plain(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(code, character)
    return text.replace("%25", "%")


@dataclass(frozen=True)
class Action:
    """A composite action in a directory, and the machine that it runs on.

    Attributes:
        directory: the action's own checkout.
        temporary: the runner's directory for temporary files.
        environment: the machine's environment.
        players: what stands for the actions that this one uses, by name.
        once: the names of steps that are executed once for the machine: what they do
            depends on their environment alone.
    """

    directory: Path
    temporary: Path
    environment: Mapping[str, str]
    players: Mapping[str, Player]
    once: frozenset[str] = frozenset()

    def run(
        self,
        workspace: Path,
        given: Mapping[str, str],
        event: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run the action in a job's workspace.

        Args:
            workspace: where the job has checked out its repository.
            given: the inputs, below `with:`.
            event: values of the `github` context, by their names below it.
        """
        text = (self.directory / "action.yml").read_text(encoding="utf-8")
        data = yaml.load(text, yaml.BaseLoader)  # all values are text, as to GitHub
        unknown = set(given) - set(data["inputs"])
        assert not unknown, f"GitHub warns of inputs that there are not: {unknown}"
        known = {f"github.{name}": value for name, value in (event or {}).items()}
        for name, described in data["inputs"].items():
            known[f"inputs.{name}"] = given.get(name, described.get("default", ""))
        output = ""
        assert data["runs"]["using"] == "composite"
        for step in data["runs"]["steps"]:
            assert "if" not in step, "conditions are not played"
            if "uses" in step:
                name = step["uses"].split("@")[0]
                outputs = self.players[name](_filled(step.get("with", {}), known))
                for key, value in outputs.items():
                    known[f"steps.{step['id']}.outputs.{key}"] = value
                continue
            done = self._execute(step, _filled(step.get("env", {}), known), workspace)
            output += done.output
            if done.exit_code:
                return Outcome(done.exit_code, output)
        return Outcome(0, output)

    def _execute(
        self, step: dict[str, Any], variables: dict[str, str], workspace: Path
    ) -> Outcome:
        assert step["shell"] == "bash", "composite steps have to name their shell"
        if step["name"] not in self.once:
            return self._bash(step["run"], variables, workspace)
        with FileLock(self.temporary / "once.lock"):
            of = hashlib.sha256(repr(sorted(variables.items())).encode()).hexdigest()
            stamp = self.temporary / f"{step['name']} {of[:16]}"
            if stamp.exists():
                return Outcome(0, "")
            outcome = self._bash(step["run"], variables, workspace)
            if outcome.exit_code == 0:
                stamp.touch()
            return outcome

    def _bash(self, script: str, variables: dict[str, str], workspace: Path) -> Outcome:
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=workspace,
            env={
                **self.environment,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(self.directory),
                "GITHUB_WORKSPACE": str(workspace),
                "RUNNER_TEMP": str(self.temporary),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Outcome(done.returncode, done.stdout)


def _filled(values: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return values with their expressions; GitHub gives nothing for unknown ones."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        assert name in known or name.startswith("github."), f"no such value: {name}"
        return known.get(name, "")

    return {key: _EXPRESSION.sub(value, text) for key, text in values.items()}
