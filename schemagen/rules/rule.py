"""What a kind of finding says about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One kind of finding.

    Attributes:
        id: SG and three digits; 1 schema, 2 breaking changes (`evolution/`),
            3 generated files, 4 request and settings, 5 data files.
        title: what is wrong, in a few words.
        purpose: why it matters.
    """

    id: str
    title: str
    purpose: str
