"""Compiles the core in C with each wheel: by `cc`, or by zig where there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_CORE = "schemagen/runtime/native/_core.so"
_OPTIONS = (
    *("-std=c11", "-O3", "-Wall", "-Wextra"),
    *("-shared", "-fPIC", "-fvisibility=hidden", "-s"),
    "-ffp-contract=off",  # pixels are TensorFlow's, which rounds each product
)


class CoreBuildHook(BuildHookInterface[Any]):
    """Compiles `schemagen/runtime/native/*.c`.

    `SCHEMAGEN_TARGET`, such as `aarch64-linux-gnu.2.17` or `aarch64-macos.11.0`, names
    another machine, for which zig compiles.
    """

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs: a compiler from the package index, if none is here."""
        return ["ziglang>=0.13"] if _needs_zig() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the core, into the source tree if that is what will be imported.

        Raises:
            SystemExit: schemagen does not run here, or the compiler refuses.
        """
        if self.target_name != "wheel":
            return
        if sys.platform == "win32":
            sys.exit(
                "schemagen runs on Linux and macOS, not on Windows: install it in the "
                "Windows Subsystem for Linux or in a container"
            )
        target = os.environ.get("SCHEMAGEN_TARGET", "")
        path = Path(self.root, _CORE)
        if version != "editable":
            self._folder = tempfile.TemporaryDirectory()
            path = Path(self._folder.name, "core.so")
            build_data["force_include"][str(path)] = _CORE
        _compile(Path(self.root, _CORE).parent, target, path)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform(target)}"


def _needs_zig() -> bool:
    return bool(os.environ.get("SCHEMAGEN_TARGET")) or shutil.which("cc") is None


def _compile(folder: Path, target: str, path: Path) -> None:
    new = path.with_name(f"{path.stem}.{os.getpid()}.so")
    compiler = [sys.executable, "-m", "ziglang", "cc"] if _needs_zig() else ["cc"]
    command = [
        *compiler,
        *(["-target", target] if target else []),
        *_OPTIONS,
        *map(str, sorted(folder.glob("*.c"))),
        *("-o", str(new)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(
            f"{' '.join(command)}\n{done.stderr}\nschemagen's core in C cannot be compiled "
            "here; it compiles for Linux and macOS on x86-64 and ARM, by gcc, clang and zig"
        )
    new.replace(path)  # other installations into the same tree may run meanwhile


def _platform(target: str) -> str:
    """Return the tag of the platform; of a target it has the oldest C library or macOS."""
    if not target:
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")
    machine, system = target.split("-", 1)
    name, version = system.split(".", 1)
    version = version.replace(".", "_")
    if name == "macos":
        return f"macosx_{version}_{machine.replace('aarch64', 'arm64')}"
    return f"manylinux_{version}_{machine}"
