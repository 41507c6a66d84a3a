"""Builds the core in C with the wheel: with `cc`, or where there is none with zig."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = Path("schemagen", "runtime", "native")
_OPTIONS = ("-O3", "-std=c11", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall")


class CoreBuildHook(BuildHookInterface[Any]):
    """Compiles `schemagen/runtime/native/*.c`.

    `SCHEMAGEN_TARGET`, such as `aarch64-linux-gnu.2.17`, builds for another machine, and
    always with zig.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs: a compiler from the package index, if none is here."""
        return ["ziglang>=0.13"] if self._needs_zig else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the core.

        Raises:
            RuntimeError: the compiler refuses.
        """
        if self.target_name != "wheel":
            return
        target = os.environ.get("SCHEMAGEN_TARGET", "")
        folder = Path(self.root, _FOLDER)
        command = [
            *([sys.executable, "-m", "ziglang", "cc"] if self._needs_zig else ["cc"]),
            *(["-target", target] if target else []),
            *_OPTIONS,
            *map(str, sorted(folder.glob("*.c"))),
            *("-o", str(folder / "_core.so")),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(
                "schemagen's core cannot be compiled for this platform; it is tested on "
                f"Linux: {' '.join(command)}\n{done.stderr}"
            )
        build_data["artifacts"].append(f"{_FOLDER.as_posix()}/_core.so")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform(target)}"

    @property
    def _needs_zig(self) -> bool:
        return bool(os.environ.get("SCHEMAGEN_TARGET")) or shutil.which("cc") is None


def _platform(target: str) -> str:
    """Return the platform tag of a wheel, which manylinux says for a target of zig."""
    if not target:
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")
    machine, _, libc = target.partition("-linux-gnu.")
    return f"manylinux_{libc.replace('.', '_')}_{machine}"
