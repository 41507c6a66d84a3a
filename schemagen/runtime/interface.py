"""The interface number: which generated code works with which runtime.

Generated code states the number that it was generated for. The number grows when generated
code begins to use something new; `OLDEST` grows when support for old generated code ends.
"""

from __future__ import annotations

INTERFACE = 3
"""The interface that this version of schemagen generates code for."""

OLDEST = 3
"""The oldest interface that this runtime still supports."""


def installed_version() -> str:
    """Return the version that is installed, such as "schemagen 1.2.0"."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"schemagen {version('schemagen')}"
    except PackageNotFoundError:
        return "the installed schemagen"


def require(number: int) -> None:
    """Check that generated code works with this runtime.

    Args:
        number: the interface that the code was generated for.

    Raises:
        ImportError: the runtime is too old or too new; says what to install or run.
    """
    if OLDEST <= number <= INTERFACE:
        return
    installed = installed_version()
    supported = f"{OLDEST} to {INTERFACE}" if OLDEST < INTERFACE else str(INTERFACE)
    advice = (
        "install a later version of schemagen"
        if number > INTERFACE
        else "run `schemagen generate` to bring the code up to date"
    )
    raise ImportError(
        f"the generated code needs interface {number} of schemagen.runtime, and "
        f"{installed} supports {supported}: {advice}"
    )
