"""The wheels that `make dist` builds, for machines that are not here: read, but not run."""

from __future__ import annotations

import re
import struct
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
[LISTED] = re.findall(r"^TARGETS := (.*)$", (CHECKOUT / "Makefile").read_text(), re.M)
TARGETS = LISTED.split()
LINUX = [target for target in TARGETS if "-linux-" in target]
MACOS = [target for target in TARGETS if "-macos." in target]

FUNCTIONS = {
    name
    for path in (CHECKOUT / "schemagen/runtime/native").glob("*.c")
    for name in re.findall(r"^EXPORT [^(]*?(\w+)\(", path.read_text(), re.M)
}
"""What the core exports, by its sources."""

# Of Mach-O files: https://github.com/apple-oss-distributions/xnu, EXTERNAL_HEADERS/mach-o
MAGIC, LIBRARY = 0xFEEDFACF, 6
PROCESSORS = {"x86_64": 0x01000007, "aarch64": 0x0100000C}
SYMBOLS, LOADED_LIBRARY, SIGNATURE, BUILD_VERSION = 0x2, 0xC, 0x1D, 0x32


def core_of(target: str, tmp_path: Path) -> Path:
    """Return the core in the wheel for a target, by the tags that pip compares."""
    machine, version = re.findall(r"^(\w+)-.*?\.([\d.]+)$", target)[0]
    machine = machine if target in LINUX else machine.replace("aarch64", "arm64")
    system = "manylinux" if target in LINUX else "macosx"
    tag = f"py3-none-{system}_{version.replace('.', '_')}_{machine}"
    wheels = [*(CHECKOUT / "dist").glob(f"schemagen_tfrecord-*-{tag}.whl")]
    assert wheels, f"no wheel of {tag}; `make dist` builds it"
    with zipfile.ZipFile(wheels[0]) as archive:
        [about] = [name for name in archive.namelist() if name.endswith("/WHEEL")]
        assert f"Tag: {tag}\n" in archive.read(about).decode()
        return Path(archive.extract("schemagen/runtime/native/_core.so", tmp_path))


def commands(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the load commands of a Mach-O file: what each is, and its bytes."""
    count, at = struct.unpack_from("<I", data, 16)[0], 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        yield command, data[at : at + size]
        at += size


def exported(data: bytes, table: bytes) -> set[str]:
    """Return the names of the functions that a Mach-O file exports, by its symbol table."""
    first, count, names, _ = struct.unpack_from("<4I", table, 8)
    found = set()
    for at in range(first, first + 16 * count, 16):
        name, kind, section = struct.unpack_from("<IBB", data, at)
        if kind == 0x0F and section == 1:  # external, of a section; __text is the first
            start = names + name
            found.add(data[start : data.index(b"\0", start)].decode())
    return found


@pytest.mark.parametrize("target", MACOS)
def test_a_wheel_for_macos_has_a_library_that_such_a_mac_loads(
    target: str, tmp_path: Path
) -> None:
    """For its processor and oldest system, with every function, and nothing but libSystem.

    A Mac with an ARM processor loads only what is signed.
    """
    data = core_of(target, tmp_path).read_bytes()
    machine, _, version = re.split(r"-|\.", target, maxsplit=2)
    magic, processor, _, kind = struct.unpack_from("<4I", data)
    assert (magic, processor, kind) == (MAGIC, PROCESSORS[machine], LIBRARY)
    found = list(commands(data))
    major, minor = map(int, version.split("."))
    [built] = [part for command, part in found if command == BUILD_VERSION]
    platform, oldest = struct.unpack_from("<II", built, 8)
    assert (platform, oldest) == (1, major << 16 | minor << 8)
    loaded = [part for command, part in found if command == LOADED_LIBRARY]
    names = [part[struct.unpack_from("<I", part, 8)[0] :] for part in loaded]
    assert [name.rstrip(b"\0") for name in names] == [b"/usr/lib/libSystem.B.dylib"]
    [table] = [part for command, part in found if command == SYMBOLS]
    assert exported(data, table) == {f"_{name}" for name in FUNCTIONS}
    if machine == "aarch64":
        assert SIGNATURE in {command for command, _ in found}


@pytest.mark.parametrize("target", LINUX)
def test_a_wheel_for_linux_has_a_library_that_its_oldest_c_library_loads(
    target: str, tmp_path: Path
) -> None:
    """For its processor, with every function, and only symbols of that version or older."""
    core = core_of(target, tmp_path)
    machine, oldest = re.findall(r"^(\w+)-linux-gnu\.2\.(\d+)$", target)[0]
    [processor] = struct.unpack_from("<H", core.read_bytes(), 18)
    assert processor == {"x86_64": 62, "aarch64": 183}[machine]
    listed = subprocess.run(
        ["nm", "--dynamic", core], capture_output=True, text=True, check=True
    ).stdout
    assert set(re.findall(r" T (\w+)$", listed, re.M)) == FUNCTIONS
    versions = re.findall(r"@GLIBC_2\.(\d+)", listed)
    assert versions
    assert max(map(int, versions)) <= int(oldest)
