"""Penguins measured at Palmer Station, Antarctica, with what was not measured missing."""

from typing import Annotated, Literal

from schemagen import Label, Record, Text, VarLen


class Penguin(Record):
    """One adult penguin, as its finders recorded it.

    Source: the raw table of the palmerpenguins package; Gorman, Williams and Fraser
    (2014), Palmer Station Long Term Ecological Research, 2007 to 2009.

    What is missing in the table is missing here: nothing is filled in. Columns that
    tell the species by how the study was done, not by the bird, are no inputs:
    `island` has role info, and the sample number, which counts within a species, is
    left out. Region and stage are left out too: they are the same for every bird.
    """

    species: Annotated[
        Literal["Adelie", "Chinstrap", "Gentoo"],
        Label(role="target"),
    ]
    """The species' common name."""

    island: Annotated[
        Literal["Biscoe", "Dream", "Torgersen"],
        Label(role="info"),
    ]
    """Where it nested. Chinstraps were recorded on Dream only, Gentoos on Biscoe."""

    individual: Annotated[str, Text(role="info")]
    """Nest and adult, such as N12A1; the two adults of a nest are A1 and A2.

    Other species and other years use the same numbers again.
    """

    bill_length_mm: float | None = None
    """Length of the bill's upper ridge (culmen), in millimetres."""

    bill_depth_mm: float | None = None
    """Depth of the bill's upper ridge (culmen), in millimetres."""

    flipper_length_mm: float | None = None
    """In millimetres."""

    body_mass_g: float | None = None
    """In grams."""

    delta_15_n: float | None = None
    """Nitrogen isotopes 15N:14N in the blood against a standard, in per mille."""

    delta_13_c: float | None = None
    """Carbon isotopes 13C:12C in the blood against a standard, in per mille."""

    sex: Annotated[
        Literal["female", "male"] | None,
        Label(role="input"),
    ] = None
    """As told from blood; missing where that failed or was not tried."""

    full_clutch: bool
    """Whether the nest was seen with its full clutch of two eggs."""

    comment: str | None = None
    """What the finders remarked, as written; missing for most birds."""

    comment_words: Annotated[list[str], VarLen(dtype="string", max_length=16)]
    """Derived from `comment`: its words in small letters, without punctuation.

    Empty where there is no comment. It says the same as `comment`, on purpose:
    one is split into words by the model, the other by whoever writes records.
    """
