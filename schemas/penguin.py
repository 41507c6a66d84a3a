"""Penguins measured at Palmer Station, Antarctica, with missing values left missing."""

from typing import Annotated, Literal

from schemagen import Label, Record, Text, VarLen


class Penguin(Record):
    """One adult penguin, as observed in the field.

    Source: the raw table of the palmerpenguins package; Gorman, Williams and Fraser
    (2014), Palmer Station Long Term Ecological Research, 2007 to 2009.

    Values that the table lacks are missing here, too. Columns that reveal the species
    through the design of the study are not inputs: `island` has role info, and the
    sample number, which counts within a species, is left out. So are region and stage,
    which are the same for every bird.
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
    """The island of its nest. Chinstraps occur on Dream only, Gentoos on Biscoe only."""

    individual: Annotated[str, Text(role="info")]
    """Nest and adult, such as N12A1; the two adults of a nest are A1 and A2.

    Numbers repeat across species and years.
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
    """Determined from a blood sample; missing without one."""

    full_clutch: bool
    """Whether the nest had a full clutch of two eggs."""

    comment: str | None = None
    """The observers' comment, as written; missing for most birds."""

    comment_words: Annotated[list[str], VarLen(dtype="string", max_length=16)]
    """Derived from `comment`: its words in lowercase, without punctuation.

    Empty without a comment. It repeats `comment` on purpose: the model splits that
    into words, and the writer of the records splits this.
    """
