"""What templates see of a record: its fields by role, its imports, its texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..spec.model import RecordSpec
from .equal_lengths import EqualLengths, equal_lengths, member_of
from .imports import import_line, imports
from .literals import Code, identifier
from .model_view import ModelView
from .nested_view import Member, NestedView, all_nested, in_models
from .pipeline_view import PipelineView
from .views import FieldView, field_view

# What serializers take from the shared code that writes splits.
_WRITING = [
    "DEFAULT_SHARD_BYTES",
    "Progress",
    "RowSource",
    "ShardedWriter",
    "write_split",
]


def _with_masks(fields: tuple[FieldView, ...]) -> tuple[str, ...]:
    return tuple(
        name
        for field in fields
        for name in ((field.name, field.mask_name) if field.masked else (field.name,))
    )


@dataclass(frozen=True)
class RecordView:
    """A record as templates see it."""

    spec: RecordSpec
    fingerprint: str

    @cached_property
    def fields(self) -> tuple[FieldView, ...]:
        return tuple(map(field_view, self.spec.fields))

    @cached_property
    def by_key(self) -> tuple[FieldView, ...]:
        """The fields in the order in which they are written."""
        return tuple(map(field_view, self.spec.by_key()))

    @property
    def message(self) -> Code:
        """What records are stored as: a class of `tf.train`."""
        return Code(self.spec.message)

    @property
    def sequence(self) -> bool:
        """Whether records have feature lists."""
        return self.spec.message == "SequenceExample"

    @cached_property
    def context(self) -> tuple[FieldView, ...]:
        """The fields that have one value a record, in the order of their keys."""
        return tuple(field for field in self.by_key if not field.in_list)

    @cached_property
    def lists(self) -> tuple[FieldView, ...]:
        """The fields that have a value in each step, in the order of their keys."""
        return tuple(field for field in self.by_key if field.in_list)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The writer's keywords: fields, and nested models of fields."""
        return in_models(self.fields)

    @cached_property
    def nested(self) -> tuple[NestedView, ...]:
        """The nested models, each before those inside it."""
        return all_nested(self.members)

    @cached_property
    def paths(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Where the tensors of nested fields stand, masks included."""
        found: list[tuple[str, tuple[str, ...]]] = []
        for field in self.fields:
            *outer, name = field.path
            if outer:
                found.append((field.name, field.path))
            if outer and field.masked:
                found.append((field.mask_name, (*outer, f"{name}_present")))
        return tuple(found)

    @property
    def parsed_type(self) -> Code:
        """The type of what parsers deliver under a name."""
        return Code("Any" if self.nested else "tf.Tensor")

    def _with_role(self, role: str) -> tuple[FieldView, ...]:
        return tuple(map(field_view, self.spec.with_role(role)))

    @cached_property
    def inputs(self) -> tuple[FieldView, ...]:
        return self._with_role("input")

    @cached_property
    def targets(self) -> tuple[FieldView, ...]:
        inputs = self.inputs
        return tuple(field.beside(inputs) for field in self._with_role("target"))

    @cached_property
    def weights(self) -> tuple[FieldView, ...]:
        return self._with_role("weight")

    @cached_property
    def infos(self) -> tuple[FieldView, ...]:
        return self._with_role("info")

    @cached_property
    def model(self) -> ModelView:
        """What the model is made of."""
        return ModelView(self.inputs, self.targets)

    @cached_property
    def pipeline(self) -> PipelineView:
        """What `pipeline.py` is made of beside all else."""
        return PipelineView(self.fields, bool(self.nested))

    @property
    def info_names(self) -> tuple[str, ...]:
        return _with_masks(self.infos)

    @property
    def info_text(self) -> str:
        return ", ".join(self.info_names)

    @property
    def arguments(self) -> Code:
        """Every field passed on by its own keyword."""
        names = [identifier(member.name) for member in self.members]
        return Code(", ".join(f"{name}={name}" for name in names))

    @property
    def element(self) -> Code:
        """A dataset's element, of the variables that hold its members."""
        parts = ["features"]
        parts += [self.truth] * bool(self.targets)
        # Keras takes weights as the third member, and only beside targets.
        parts += ["weights"] * bool(self.targets and self.weights)
        return Code(", ".join(parts))

    @property
    def element_text(self) -> str:
        """What a dataset delivers, in words."""
        if not self.targets:
            return "Elements are the features, a dict by name."
        names = ", ".join(f"`{field.name}`" for field in self.targets)
        single = len(self.targets) == 1
        parts = f"features, {names if single else 'targets'}"
        parts += f", `{self.weights[0].name}` as weights" if self.weights else ""
        text = f"Elements are ({parts}), with features a dict by name"
        return f"{text}." if single else f"{text}, and targets with {names}."

    @property
    def output_name(self) -> str:
        """What a served model calls its predictions if they are one tensor."""
        return self.targets[0].name if len(self.targets) == 1 else "features"

    @property
    def metrics(self) -> Code:
        """The keyword of `compile` for metrics; weights have to count in them."""
        return Code("weighted_metrics" if self.weights else "metrics")

    @property
    def pairs(self) -> Code:
        """What encodes each field beside the field's values, sorted by key."""
        pairs = [f"(_{identifier(f.name)}, {f.value})" for f in self.by_key]
        return Code(", ".join(pairs) + "," * (len(pairs) == 1))

    @property
    def encode_row(self) -> Code:
        """The function that joins the fields of a row."""
        if self.sequence:
            return Code("encode_sequence_example")
        return Code("encode_fields" if self.compound else "encode_example")

    @property
    def encode_batch(self) -> Code:
        """The function that makes records of columns."""
        return Code(f"encode_{self._records}")

    @property
    def frame_batch(self) -> Code:
        """The function that makes framed records of columns."""
        return Code(f"frame_{self._records}")

    @property
    def _records(self) -> str:
        return "sequence_examples" if self.sequence else "examples"

    @property
    def serializer_imports(self) -> Code:
        """The imports of `serializer.py`, and no more than it uses."""
        types = [field.takes for field in self.fields]
        text = " ".join(types)
        classes = {name for field in self.fields for name in field.feature_classes}
        functions = sorted(
            [
                self.encode_row,
                self.encode_batch,
                self.frame_batch,
                *["nested_members"] * bool(self.nested),
                *["check_column_lengths", "check_lengths"] * bool(self.equal_lengths),
            ]
        )
        typing = [name for name in ("ArrayLike", "NDArray") if name in text]
        abc = ["Callable"] + [
            name for name in ("Iterable", "Mapping", "Sequence") if name in text
        ]
        return imports(
            [
                "import os",
                import_line("collections.abc", abc),
                import_line("typing", self._serializer_typing),
            ],
            ["import numpy as np"] * ("np." in text)
            + [import_line("numpy.typing", typing)] * bool(typing),
            [
                import_line(
                    ".._support.features",
                    [*sorted({*classes, "Column", "Columns"}), *functions],
                ),
                import_line(".._support.manifest", ["load_spec"]),
                import_line(".._support.writing", _WRITING),
            ],
        )

    @property
    def _serializer_typing(self) -> list[str]:
        text = " ".join(field.takes for field in self.fields)
        nested = ["TypedDict"] if self.nested else []
        if any(field.optional and field.declared.path for field in self.fields):
            nested = ["NotRequired", *nested]
        return [*["Any"] * ("Any" in text), "Literal", *nested]

    @property
    def parser_imports(self) -> Code:
        """The imports of `parser.py`, and no more than it uses."""
        numpy = any(field.uses_numpy for field in self.fields)
        names = any(field.named_on_disk for field in self.fields)
        return imports(
            [
                import_line("collections.abc", ["Collection"]),
                import_line("typing", ["Any"]),
            ],
            ["import numpy as np"] * numpy,
            [
                import_line(".._support", ["reading"]),
                import_line(".._support.requirements", ["tf"]),
                *["from .serializer import CLASSES"] * names,
            ],
        )

    @property
    def model_imports(self) -> Code:
        """The imports of `model.py`."""
        abc = ["Collection", "Mapping"]
        return imports(
            [
                "import os",
                import_line("collections.abc", abc),
                import_line("typing", ["Any"]),
            ],
            [
                import_line(".._support", self._model_modules),
                import_line(".._support.record_model", ["RecordModel"]),
                import_line(".._support.requirements", ["keras", "tf"]),
                import_line(".parser", ["KEYS", "parse_batch"]),
            ],
        )

    @property
    def _model_modules(self) -> list[str]:
        """The shared modules that the model is made with."""
        found = {
            "agreement",
            "assembly",
            "blocks",
            "serving",
            *["adaptation"] * bool(self.model.adapted),
        }
        for field in (*self.inputs, *self.targets):
            found.update(field.model_modules)
        return sorted(found)

    @property
    def sparse(self) -> bool:
        """Whether a field is delivered as a tf.SparseTensor."""
        return any(field.sparse for field in self.fields)

    @property
    def unlabelled(self) -> bool:
        """Whether there may be records without a target."""
        return any(field.spec.optional for field in self.targets)

    @property
    def learned_names(self) -> tuple[str, ...]:
        """The fields that only training needs."""
        return tuple(field.name for field in (*self.targets, *self.weights))

    @property
    def learned_text(self) -> str:
        *others, last = self.learned_names
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def truth(self) -> Code:
        """The variable that holds the targets: another one than the parameter."""
        return Code("truth" if self.unlabelled else "targets")

    @property
    def compound(self) -> bool:
        """Whether a field is written under several keys."""
        return any(field.compound for field in self.fields)

    @property
    def further_keys(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The keys that fields are read from beside their own, by field name."""
        found = {field.name: field.further_keys for field in self.fields}
        for group in self.equal_lengths:
            for field in group.fields:
                if field.stored_filler is not None and group.measure:
                    found[field.name] += (group.measure.length_key,)
        return tuple((name, keys) for name, keys in found.items() if keys)

    @cached_property
    def further_descriptions(self) -> tuple[tuple[str, Code], ...]:
        """The descriptions under further keys, sorted by key.

        Of a key that is shared, that of a field which has to be there.
        """
        fields = sorted(self.fields, key=lambda field: not field.spec.optional)
        found = {key: code for field in fields for key, code in field.further}
        return tuple(sorted(found.items()))

    @cached_property
    def equal_lengths(self) -> tuple[EqualLengths, ...]:
        """The groups of fields that are equally long in every record."""
        return equal_lengths(self.fields)

    @property
    def read_groups(self) -> tuple[tuple[str, tuple[tuple[str, Code], ...]], ...]:
        """The groups that readers check: the members by name, as source code."""
        return tuple(
            (group.name, tuple((f.label, member_of(f)) for f in group.counted))
            for group in self.equal_lengths
            if len(group.counted) > 1
        )

    @property
    def optional_only(self) -> bool:
        """Whether nothing in a record has to be there."""
        return all(field.spec.optional for field in self.fields)

    @property
    def required_keys(self) -> tuple[str, ...]:
        """The keys of lists whose absence has to be looked for."""
        return tuple(key for field in self.by_key for key in field.required_keys)

    @property
    def named_labels(self) -> tuple[FieldView, ...]:
        """The labels whose classes have names; of steps, the label in each step."""
        fields = (getattr(field, "step", field) for field in self.fields)
        return tuple(field for field in fields if getattr(field.spec, "classes", ()))
