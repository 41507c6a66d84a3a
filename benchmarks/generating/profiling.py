"""Where our own time goes, stage by stage."""

from __future__ import annotations

import shutil
from typing import Any

from ..jobs import done_alone
from ..measure import figure
from ..report import grid, number
from ..setting import Setting
from .stages import IMPORTS, REST, STAGES, START
from .ways import write_project

COMMANDS = ("generate", "check")

_LINES = (START, IMPORTS, *STAGES, REST)


def measure(setting: Setting) -> dict[str, Any]:
    """Generate the code of each number of schemas from nothing, then check it.

    Returns:
        By command and number of schemas: how many there were; and the seconds of the
        processor that each stage took in each round.
    """
    found: dict[str, Any] = {command: {} for command in COMMANDS}
    for size in setting.shapes:
        setting.say(f"{size} schemas: profile")
        count = setting.count(int(size))
        project = setting.scratch / "profile"
        write_project(project, count)
        for command in COMMANDS:
            rounds: dict[str, list[float]] = {}
            for _ in range(setting.rounds):
                if command == "generate":
                    shutil.rmtree(project / "generated", ignore_errors=True)
                arguments = [str(project), command]
                job = done_alone("benchmarks.generating.stages", arguments, project)
                for stage, seconds in job.items():
                    rounds.setdefault(stage, []).append(seconds)
            found[command][size] = {"schemas": count, "seconds": rounds}
        shutil.rmtree(project)
    return found


def markdown(found: dict[str, Any]) -> str:
    """Return a table for each command."""
    parts = []
    for command, sizes in found.items():
        columns = {
            f"{result['schemas']:,} schemas": _cells(result["seconds"])
            for result in sizes.values()
        }
        parts.append(grid(f"{command}: milliseconds of the processor", columns))
    return "\n".join(parts)


def _cells(rounds: dict[str, list[float]]) -> dict[str, str]:
    cells = {
        stage: number(figure(rounds[stage]).median * 1e3)
        for stage in _LINES
        if stage in rounds
    }
    whole = [sum(stages) for stages in zip(*rounds.values(), strict=True)]
    return {**cells, "the whole": number(figure(whole).median * 1e3)}
