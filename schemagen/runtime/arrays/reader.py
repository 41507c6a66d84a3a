"""`open_split` of generated readers."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..cells.decoded import Form
from ..records.codec import RecordCodec
from ..records.decoder import Decoder, ListForm
from ..records.roles import Roles, missing_targets
from ..records.selecting import Select
from ..shared.errors import with_suggestion
from ..shared.options import RaiseOrSkip, check_choice, check_flags, options_by_name
from ..sources.finding import Paths, Splits
from ..sources.opening import open_components
from ..storage.schema import Spec
from .cache import cache_of
from .shards import ShardView
from .split import Split, mixed


@dataclass(frozen=True)
class SplitReader:
    """Opens splits of one record; generated readers offer its `open_split`.

    Attributes:
        spec: the contents of the package's `spec.json`.
        record: the codecs of its fields.
        features: the field of each feature that models take.
        targets: the target fields.
        weights: the field of sample weights, if there is one.
    """

    spec: Spec
    record: RecordCodec
    features: Mapping[str, str]
    targets: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"SplitReader({self.spec['record']!r})"

    @options_by_name
    def open_split(
        self,
        source: Paths | Mapping[str, float],
        split: Splits = None,
        *,
        fields: Collection[str] | None = None,
        select: Select | None = None,
        ragged: ListForm = "padded",
        decode_images: bool = True,
        class_names: bool = False,
        on_corrupt: RaiseOrSkip = "raise",
        cache_dir: str | os.PathLike[str] | None = None,
        cache_bytes: int | None = None,
    ) -> Split:
        """Open a split, to read its records in any order.

        Args:
            source: a data directory, a glob, a file or a list of files, by path or URL;
                or a dict of such, each with its weight, which are mixed as by `mix`. There,
                the name of a split may follow its directory: {"data:train": 3, "data:extra": 1}.
            split: which split of a directory; may be left out if it holds one. A slice
                may follow it: "train[:80%]", "train[80%:]", "train[100:200]". A list reads
                several splits as one, in its order.
            fields: the names of the fields to read; None for all.
            select: which items of lists to read, such as frames of clips, by the name of
                the field: {"frames": {"first": 8}} reads the first eight, {"every": 4}
                every fourth, {"random": 16} as many chosen by chance, in their order in
                time, others in each epoch; or a function of the length that returns
                positions. Frames that are not selected are not decoded. Fields of a group
                are selected alike.
            ragged: "padded" pads the lists of a batch to the longest, as `parse_batch`
                does; "list" leaves them as long as they are. Fields that the schema
                declares ragged are lists in any case.
            decode_images: decode encoded images, masks and sound, and what has a decoder;
                False returns their bytes.
            class_names: return labels by the names of their classes.
            on_corrupt: "raise" an error that names file, record and field; or "skip"
                corrupt records in batches and loops, with a warning: read by number,
                as in `split[7]` and `split[:]`, each is an error.
            cache_dir: a directory of this machine, where blocks of remote files that were
                fetched are kept for later epochs, for other programs too. Local and
                compressed files are not kept.
            cache_bytes: how much it may hold; None for 64 GiB. What was not used for
                longest is removed.

        Raises:
            DatasetError: nothing is there, files are missing or are not those that were
                written, or an option is wrong.
            SchemaMismatchError: the data was written with an incompatible schema.
            ValueError: a name in `fields` or `select` that is not a field.
            ModuleNotFoundError: a field is bfloat16, and ml_dtypes is not installed.
        """
        check_flags(decode_images=decode_images, class_names=class_names)
        check_choice("ragged", ragged, ListForm)
        check_choice("on_corrupt", on_corrupt, RaiseOrSkip)
        names = tuple(self.record.fields)
        if isinstance(fields, str):
            raise TypeError(f"fields={fields!r}: expected a list of names")
        chosen = names if fields is None else tuple(fields)
        for name in chosen:
            if name not in names:
                words = f"no field {name!r}: expected names out of {', '.join(names)}"
                raise ValueError(with_suggestion(words, name, names))
        for name in chosen:
            self.record[name].prepare()
        record = self.record.selecting(select)
        decoder = Decoder(
            record, chosen, Form(decode_images, class_names), lists=ragged
        )
        missing = missing_targets(self.record, self.targets)
        roles = Roles(tuple(self.features), self.targets, self.weights, (), missing)
        cache = cache_of(cache_dir, cache_bytes)
        splits, weights = [], []
        for each in open_components(source, split, self.spec):
            records = ShardView(
                each.shards, decoder, skips=on_corrupt == "skip", cache=cache
            )
            whole = Split(records, roles)
            if each.slice is None:
                splits.append(whole)
            else:
                splits.append(whole.select(each.slice.of(len(whole))))
            weights.append(each.weight)
        return mixed(splits, weights) if isinstance(source, Mapping) else splits[0]
