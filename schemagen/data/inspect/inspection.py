"""What `schemagen.inspect` returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..profile.facts import Fact, facts_of
from ..profile.profile import Profile
from ..statistics.model import DataStatistics


@dataclass(frozen=True, repr=False)
class Inspection(DataStatistics):
    """Statistics of data, which notebooks and `print` show.

    Attributes:
        profile: the same in the terms of the schema: columns, classes, differences.
    """

    profile: Profile = field(kw_only=True, compare=False)

    def __repr__(self) -> str:
        from .text import inspection_text

        return inspection_text(self.profile).rstrip("\n")

    def _repr_html_(self) -> str:
        from ...display.html import html
        from .text import overview_blocks

        return html(overview_blocks(self.profile))

    @property
    def facts(self) -> list[Fact]:
        """All that is known, as one list."""
        return [*facts_of(self.profile)]

    def markdown(self) -> str:
        """Return the dataset card: Markdown for GitHub and Hugging Face."""
        from .card import card

        return card(self.profile)


def inspection_of(profile: Profile) -> Inspection:
    """Return a profile as what notebooks show."""
    return Inspection(**vars(profile.statistics), profile=profile)
