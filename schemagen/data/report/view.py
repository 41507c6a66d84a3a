"""What the page shows, as values: every text in it is data, which the page escapes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers stand at its right edge."""

    title: str
    number: bool = False


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it says, for those who do not see the plot above it.
        columns: its columns; the first one names the row.
        rows: the text of each cell.
        left_out: how many rows are not in it, since no one would read them.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0


@dataclass(frozen=True)
class Plot:
    """A picture of numbers.

    Attributes:
        label: what it shows, in a sentence.
        svg: its markup, cleaned by `svg.cleaned`.
    """

    label: str
    svg: str


@dataclass(frozen=True)
class Figure:
    """Plots of the same numbers, and the table that says them in words.

    Attributes:
        title: mostly the name of a field or key.
        kind: what is stored there, in a few words.
        plots: with a caption each.
        facts: numbers worth a line of their own: (what, value).
        notes: sentences.
        table: the text alternative.
        folded: whether the table is opened by the reader only.
        wide: whether it takes the whole width.
    """

    title: str
    kind: str
    plots: tuple[tuple[str, Plot], ...]
    facts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    table: Table | None
    folded: bool = True
    wide: bool = False


@dataclass(frozen=True)
class Split:
    """A split's row of the overview; `series` chooses its colour and its line."""

    name: str
    series: int
    records: str
    share: str
    shards: str
    bytes: str
    per_record: str
    compression: str


@dataclass(frozen=True)
class Layer:
    """The pixels of one class, to be laid over a picture."""

    slot: int
    url: str


@dataclass(frozen=True)
class Box:
    """A box in pixels of the picture; `slot` tells when it is hidden."""

    slot: int
    color: int
    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True)
class Picture:
    """An image field of a sample.

    Attributes:
        name: of the field or key.
        about: size, channels and format of what is stored.
        url: a data: URL of a bounded copy; empty if there is nothing to see.
        width: of the coordinates in which boxes stand.
        height: likewise.
        coarse: whether its pixels are few, and shown as squares.
        layers: its mask.
        boxes: its boxes.
        trouble: why it is not shown; empty if it is.
    """

    name: str
    about: str
    url: str
    width: int
    height: int
    coarse: bool = False
    layers: tuple[Layer, ...] = ()
    boxes: tuple[Box, ...] = ()
    trouble: str = ""


@dataclass(frozen=True)
class Value:
    """What a sample has under one key."""

    name: str
    kind: str
    text: str
    missing: bool = False


@dataclass(frozen=True)
class Sample:
    """A record that is shown whole.

    Attributes:
        id: unique in the page.
        title: which record it is.
        where: its file.
        headline: what its labels say.
        pictures: its images.
        values: all keys.
    """

    id: str
    title: str
    where: str
    headline: str
    pictures: tuple[Picture, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Samples:
    """The samples of one split."""

    split: str
    series: int
    of: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Key:
    """A class in a legend.

    Attributes:
        slot: tells what is hidden with it.
        color: classes of one name have one colour.
        name: of the class.
        shown: whether it is drawn until the reader says otherwise.
    """

    slot: int
    color: int
    name: str
    shown: bool


@dataclass(frozen=True)
class Legend:
    """The classes of a mask or of boxes."""

    field: str
    kind: str
    classes: tuple[Key, ...]


@dataclass(frozen=True)
class Finding:
    """Findings of one rule, summed up."""

    rule: str
    count: str
    what: str
    where: str
    found: str
    expected: str
    cause: str


@dataclass(frozen=True)
class Difference:
    """A measure that differs between two splits.

    Attributes:
        name: of the field or key.
        measure: what was compared.
        split: which split differs from the reference.
        text: what is different, in a sentence.
        size: how much, as a number with its unit.
        threshold: from where on it is marked.
        marked: whether it is.
    """

    name: str
    measure: str
    split: str
    text: str
    size: str
    threshold: str
    marked: bool


@dataclass(frozen=True)
class Verdict:
    """A line at the head of the page: `tone` is good, bad or note."""

    tone: str
    text: str
    target: str


@dataclass(frozen=True)
class Page:
    """The whole page.

    Attributes:
        title: the record's name, or the file's.
        where: the data.
        figures: numbers at the head: (number, what).
        facts: what else is known of the data: (what, value).
        verdicts: what to look at first.
        splits: the overview.
        verified: what `verify` has looked at; empty if it was not asked.
        findings: what it found.
        samples: by split.
        legends: of masks and boxes.
        classes: class balance.
        missing: presence by key.
        keys: histograms of values and lengths.
        keys_left_out: how many keys have no figure.
        key_table: every key in a line.
        shards: sizes of files.
        reference: the split with which others are compared; empty if there is one only.
        differences: marked ones first.
        cautions: what cannot be concluded.
        rules: how differences are measured: (measure, how, marked from).
    """

    title: str
    where: str
    figures: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    verdicts: tuple[Verdict, ...]
    splits: tuple[Split, ...]
    verified: str
    findings: tuple[Finding, ...]
    samples: tuple[Samples, ...]
    legends: tuple[Legend, ...]
    classes: tuple[Figure, ...]
    missing: tuple[Figure, ...]
    keys: tuple[Figure, ...]
    keys_left_out: int
    key_table: Table | None
    shards: tuple[Figure, ...]
    reference: str = ""
    differences: tuple[Difference, ...] = ()
    cautions: tuple[str, ...] = ()
    rules: tuple[tuple[str, str, str], ...] = ()
