"""What `make test` runs of property tests; `make test-all` runs all of them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def examples(number: int) -> settings:
    """Return the settings of a property test.

    Args:
        number: how many examples it runs; a third of them in the profile `quick`.
    """
    share = settings().max_examples / settings.get_profile("default").max_examples
    return settings(
        max_examples=max(1, round(number * share)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],  # other work may slow it down
    )
