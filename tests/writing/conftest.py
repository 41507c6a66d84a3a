"""What tests of writing change about the runtime."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def lease_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set after how many seconds a lease that is not renewed has ended."""

    def last(seconds: float) -> None:
        monkeypatch.setattr("schemagen.runtime.storage.lock.LEASE_SECONDS", seconds)

    return last
