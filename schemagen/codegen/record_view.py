"""What templates see of a record: its fields by role, groups, datasets and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..kinds.literals import Code, identifier, literal
from ..kinds.view import FieldView, field_view
from ..spec.model import RecordSpec
from .nested_view import Member, NestedView, all_nested, in_models


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
    def pipeline(self) -> PipelineView:
        """What `pipeline.py` is made of in addition to all else."""
        return PipelineView(self.fields)

    @property
    def target_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.targets)

    @property
    def weight_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.weights)

    @property
    def info_names(self) -> tuple[str, ...]:
        return _with_masks(self.infos)

    @property
    def arguments(self) -> Code:
        """Every field passed on by its own keyword."""
        names = [identifier(member.name) for member in self.members]
        return Code(", ".join(f"{name}={name}" for name in names))

    @property
    def element_text(self) -> str:
        """The elements of a dataset, in words."""
        if not self.targets:
            return "Elements are the features, a dict by name."
        names = ", ".join(f"`{field.name}`" for field in self.targets)
        single = len(self.targets) == 1
        parts = f"features, {names if single else 'targets'}"
        parts += f", `{self.weights[0].name}` as weights" if self.weights else ""
        text = f"Elements are ({parts}), with features a dict by name"
        return f"{text}." if single else f"{text}, and targets with {names}."

    @property
    def info_text(self) -> str:
        """The names that `info=True` adds, in words."""
        return ", ".join(f"`{name}`" for name in self.info_names)

    @property
    def pairs(self) -> Code:
        """What encodes each field in addition to its values, sorted by key."""
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
    def sparse(self) -> bool:
        """Whether a field is delivered as a tf.SparseTensor."""
        return any(field.sparse for field in self.fields)

    @property
    def compound(self) -> bool:
        """Whether a field is written under several keys."""
        return any(field.compound for field in self.fields)

    @property
    def further_keys(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The keys that fields are read from in addition to their own, by field name."""
        return tuple(
            (field.name, tuple(key for key, _ in field.further))
            for field in self.fields
            if field.further
        )

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


@dataclass(frozen=True)
class PipelineView:
    """The fields of a record as datasets deliver them.

    Attributes:
        fields: all of them.
    """

    fields: Sequence[FieldView]

    @property
    def features(self) -> tuple[tuple[str, str], ...]:
        """The names in the dict of features, each with its field."""
        return tuple(
            (name, field.name)
            for field in self.fields
            if field.spec.role == "input"
            for name in (field.name, *[field.mask_name] * field.masked)
        )

    @property
    def augmented(self) -> tuple[FieldView, ...]:
        """The fields that are varied in training."""
        return tuple(field for field in self.fields if field.augmented)

    @property
    def padding(self) -> tuple[tuple[str, Any], ...]:
        """The fields whose rows are filled up to the longest of a batch, and how."""
        return tuple(
            (field.name, field.filler) for field in self.fields if field.padded
        )

    @property
    def limits(self) -> tuple[tuple[str, int], ...]:
        """The fields whose rows can be filled up to the longest that there may be."""
        found = []
        for field in self.fields:
            names = ("max_length", "max_count")
            limit = next(filter(None, (getattr(field.spec, n, None) for n in names)), 0)
            if field.padded and limit and None not in field.shape[1:]:
                found.append((field.name, limit))
        return tuple(found)

    @property
    def varying(self) -> tuple[tuple[str, Code, Code], ...]:
        """The fields whose length varies: where it stands, and the key's description."""
        return tuple(
            (field.name, length_of(field), field.described_length)
            for field in self.fields
            if field.is_list and field.item_size is not None
        )

    @property
    def missing_targets(self) -> tuple[tuple[str, float], ...]:
        """The targets that deliver a mask, and the value of those that are missing."""
        return tuple(
            (field.name, field.missing_target)
            for field in self.fields
            if field.spec.role == "target" and field.missing_target is not None
        )


@dataclass(frozen=True)
class EqualLengths:
    """A group: fields that are equally long in every record.

    Attributes:
        name: the group's name.
        fields: its members, in the order of their declaration.
    """

    name: str
    fields: tuple[FieldView, ...]

    @property
    def counted(self) -> tuple[FieldView, ...]:
        """The members whose lengths readers see; what is filled up on disk has one."""
        return tuple(field for field in self.fields if field.item_size is not None)


def equal_lengths(fields: tuple[FieldView, ...]) -> tuple[EqualLengths, ...]:
    """Return the groups of a record, in the order of their first fields."""
    names = [field.group for field in fields if field.group is not None]
    return tuple(
        EqualLengths(name, tuple(field for field in fields if field.group == name))
        for name in dict.fromkeys(names)
    )


def length_of(field: FieldView) -> Code:
    """Return the `groups.Member` that tells a field's length, as source code."""
    return _member(field, [])


def member_of(field: FieldView) -> Code:
    """Return the `groups.Member` of a field in a group, as source code."""
    parts = [Code("optional=True")] if field.optional else []
    return _member(field, parts)


def _member(field: FieldView, of_group: list[Code]) -> Code:
    parts = [literal(field.length_key)]
    if field.item_size != 1:
        parts.append(Code(f"size={field.item_size}"))
    parts += of_group
    if field.in_list:
        parts.append(Code("in_list=True"))
    return Code(f"groups.Member({', '.join(parts)})")
