"""What is installed: the distribution, and which generated code works with it.

Generated code states the number that it was generated for. The number grows when generated
code begins to use something new; `OLDEST` grows when support for old generated code ends.
"""

from __future__ import annotations

from contextlib import suppress

DISTRIBUTION = "schemagen-tfrecord"
"""What pip installs; the package that it installs is `schemagen`."""

INTERFACE = 5
"""The interface that this version of schemagen generates code for."""

OLDEST = 5
"""The oldest interface that this runtime still supports."""


def installed_version() -> str:
    """Return the version that is installed, such as "1.2.0".

    Raises:
        PackageNotFoundError: the package is imported without being installed.
    """
    from importlib.metadata import version  # pyproject.toml states it, once

    return version(DISTRIBUTION)


def install(extra: str) -> str:
    """Return the command that installs the packages of an extra."""
    return f'pip install "{DISTRIBUTION}[{extra}]"'


def require(number: int) -> None:
    """Check that generated code works with this runtime.

    Args:
        number: the interface that the code was generated for.

    Raises:
        ImportError: the runtime is too old or too new; says what to install or run.
    """
    if OLDEST <= number <= INTERFACE:
        return
    from importlib.metadata import PackageNotFoundError

    installed = DISTRIBUTION
    with suppress(PackageNotFoundError):
        installed = f"{DISTRIBUTION} {installed_version()}"
    supported = f"{OLDEST} to {INTERFACE}" if OLDEST < INTERFACE else str(INTERFACE)
    advice = (
        f"install a later version of {DISTRIBUTION}"
        if number > INTERFACE
        else "run `schemagen generate` to bring the code up to date"
    )
    raise ImportError(
        f"the generated code needs interface {number} of schemagen.runtime, and "
        f"{installed} supports {supported}: {advice}"
    )
