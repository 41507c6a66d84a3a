"""What `schemagen.inspect` returns: statistics, which notebooks and `print` show."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

from ..data.profile.facts import Fact, facts_of
from ..data.profile.profile import Profile
from ..data.statistics.model import DataStatistics
from ..data.verify.verification import Verification
from ..runtime.interface import install

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Inspection(DataStatistics):
    """Statistics of data, which notebooks and `print` show.

    Attributes:
        profile: the same in the terms of the schema: columns, classes, differences.
        verification: what is wrong with the data, as `verify` finds it.
    """

    profile: Profile = field(kw_only=True, compare=False)
    verification: Verification = field(kw_only=True, compare=False)

    def __repr__(self) -> str:
        from ..data.inspect.text import inspection_text

        return inspection_text(self.profile).rstrip("\n")

    def _repr_html_(self) -> str:
        from ..data.inspect.text import overview_blocks
        from ..display.html import html

        return html(overview_blocks(self.profile))

    @property
    def facts(self) -> list[Fact]:
        """All that is known, as one list."""
        return [*facts_of(self.profile)]

    def markdown(self) -> str:
        """Return the dataset card: Markdown for GitHub and Hugging Face."""
        from ..data.inspect.card import card

        return card(self.profile)

    @overload
    def html(self, path: None = None) -> str: ...

    @overload
    def html(self, path: str | os.PathLike[str]) -> None: ...

    def html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the report that `schemagen inspect --html` writes, or write it.

        Args:
            path: the file, in which an earlier report is replaced; None returns the page.

        Raises:
            SchemagenError: a package is not installed; the directory does not exist; or
                the file is not a report.
        """
        from ..data.report.page import check_installed, page_text, write_report

        if path is None:
            check_installed()
            return page_text(self.profile, self.verification)
        write_report(path, self.profile, self.verification)
        return None

    def to_pandas(self) -> pandas.DataFrame:
        """Return the facts as a frame: a row for each, with its entries as columns.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"pandas is not installed: run `{install('pandas')}`", name="pandas"
            ) from None
        return pandas.DataFrame([vars(fact) for fact in self.facts])


def inspection_of(profile: Profile, verification: Verification) -> Inspection:
    """Return a profile as what notebooks show."""
    return Inspection(
        **vars(profile.statistics), profile=profile, verification=verification
    )
