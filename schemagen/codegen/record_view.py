"""What templates see of a record: its fields by role, nested models, datasets and texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from ..runtime.kinds.classes import names_of
from ..runtime.records.groups import group_of
from ..spec.model import RecordSpec
from .field_view import FieldView, constructor, description, list_description, value_at
from .python_source import Code, identifier, import_line, literal


@dataclass(frozen=True)
class NestedView:
    """A nested model: its members, some of which may be nested models again.

    Attributes:
        path: from the outermost name to its own.
        members: in the order of their declaration.
    """

    path: tuple[str, ...]
    members: tuple[Member, ...]

    @property
    def name(self) -> str:
        return "_".join(self.path)

    @property
    def label(self) -> str:
        """What it is called in texts: `steps.observation`."""
        return ".".join(self.path)

    @property
    def optional(self) -> bool:
        return False

    @property
    def takes(self) -> Code:
        """The type of what a row has for it: StepsObservationRow."""
        return identifier(f"{self._class_stem}Row")

    @property
    def takes_column(self) -> Code:
        """The type of what a batch has for it: StepsObservationColumns."""
        return identifier(f"{self._class_stem}Columns")

    @property
    def _class_stem(self) -> str:
        words = self.name.split("_")
        return "".join(word[:1].upper() + word[1:] for word in words)

    @property
    def local(self) -> Code:
        """The variable that holds its members; no field begins with `_`."""
        return identifier(f"_{self.name}")

    @property
    def unpacked(self) -> Code:
        """The call that sees that its members are there."""
        required = tuple(m.path[-1] for m in self.members if not m.optional)
        others = tuple(m.path[-1] for m in self.members if m.optional)
        more = f", {literal(others)}" if others else ""
        value = value_at(self.path)
        return Code(
            f"nested_members({literal(self.label)}, {value}, {literal(required)}{more})"
        )


Member = FieldView | NestedView


def in_models(fields: tuple[FieldView, ...], depth: int = 0) -> tuple[Member, ...]:
    """Put the fields of a record into their nested models, in order."""
    found: list[Member] = []
    for name in dict.fromkeys(field.path[depth] for field in fields):
        below = tuple(field for field in fields if field.path[depth] == name)
        path = below[0].path[: depth + 1]
        if path == below[0].path:
            found.append(below[0])
        else:
            found.append(NestedView(path, in_models(below, depth + 1)))
    return tuple(found)


def all_nested(members: tuple[Member, ...]) -> tuple[NestedView, ...]:
    """Return all nested models, each before those inside it."""
    return tuple(
        model
        for member in members
        if isinstance(member, NestedView)
        for model in (member, *all_nested(member.members))
    )


def _with_masks(fields: tuple[FieldView, ...]) -> tuple[str, ...]:
    return tuple(
        name
        for field in fields
        for name in (
            (field.name, field.mask_name)
            if field.delivered.absence.masked
            else (field.name,)
        )
    )


@dataclass(frozen=True)
class RecordView:
    """A record as templates see it."""

    spec: RecordSpec
    fingerprint: str

    @cached_property
    def fields(self) -> tuple[FieldView, ...]:
        return tuple(map(FieldView, self.spec.fields))

    @cached_property
    def by_key(self) -> tuple[FieldView, ...]:
        """The fields in the order in which they are written."""
        return tuple(map(FieldView, self.spec.by_key()))

    @property
    def message(self) -> Code:
        """What records are stored as: a class of `tf.train`."""
        return Code(self.spec.message)

    @property
    def sequence(self) -> bool:
        """Whether records have feature lists."""
        return self.spec.message == "SequenceExample"

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
            if outer and field.delivered.absence.masked:
                found.append((field.mask_name, (*outer, f"{name}_present")))
            if outer and field.size_name:
                found.append((field.size_name, (*outer, f"{name}_size")))
        return tuple(found)

    @property
    def parsed_type(self) -> Code:
        """The type of what parsers deliver under a name."""
        return Code("Any" if self.nested else "tf.Tensor")

    def _with_role(self, role: str) -> tuple[FieldView, ...]:
        return tuple(map(FieldView, self.spec.with_role(role)))

    @cached_property
    def inputs(self) -> tuple[FieldView, ...]:
        return self._with_role("input")

    @cached_property
    def targets(self) -> tuple[FieldView, ...]:
        inputs = self.inputs
        return tuple(field.with_pictures(inputs) for field in self._with_role("target"))

    @cached_property
    def weights(self) -> tuple[FieldView, ...]:
        return self._with_role("weight")

    @cached_property
    def infos(self) -> tuple[FieldView, ...]:
        return self._with_role("info")

    @property
    def target_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.targets)

    @property
    def weight_names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.weights)

    @property
    def info_names(self) -> tuple[str, ...]:
        sizes = tuple(field.size_name for field in self.fields if field.size_name)
        return (*_with_masks(self.infos), *sizes)

    @property
    def arguments(self) -> Code:
        """Every field passed on by its own keyword."""
        names = [identifier(member.name) for member in self.members]
        return Code(", ".join(f"{name}={name}" for name in names))

    @property
    def values(self) -> Code:
        """The value of every field by name, of nested ones out of their models."""
        names = [f"{identifier(field.name)}={field.value}" for field in self.fields]
        return Code(", ".join(names))

    @property
    def parsed_result(self) -> Code:
        """What `parse_batch` does with its tensors."""
        return Code("batch = " if self.nested else "return ")

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
    def sparse(self) -> bool:
        """Whether a field is delivered as a tf.SparseTensor."""
        return any(field.delivered.layout == "sparse" for field in self.fields)

    @property
    def kinds(self) -> tuple[tuple[str, Code], ...]:
        """The label of each field, and its kind as source code."""
        return tuple((field.label, constructor(field.codec)) for field in self.fields)

    @property
    def descriptions(self) -> tuple[tuple[str, Code], ...]:
        """The description of each feature, sorted by key.

        Of a key that is shared, that of a field which has to be there.
        """
        fields = sorted(self.fields, key=lambda field: not field.optional)
        parts = {part.key: part for f in fields[::-1] for part in f.codec.features}
        ordered = sorted(parts, key=str.encode)
        return tuple((key, description(parts[key])) for key in ordered)

    @property
    def description_entries(self) -> tuple[Code, ...]:
        """The same as entries of a dict, with one for all numbered keys of a field."""
        found = {
            key: Code(f"{literal(key)}: {described}")
            for key, described in self.descriptions
        }
        for field in self.fields:
            codec: Any = field.codec
            if not field.field.numbered_keys:
                continue
            first, *others = codec.parts
            for part in others:
                del found[part.key]
            begin, end = codec.keys_from, codec.keys_from + len(codec.parts)
            numbers = f"range({begin}, {end})" if begin else f"range({end})"
            keys = f"map({literal(codec.keys)}.format, {numbers})"
            found[first.key] = Code(f"**dict.fromkeys({keys}, {description(first)})")
        return tuple(found.values())

    @property
    def list_descriptions(self) -> tuple[tuple[str, Code], ...]:
        """The description of each feature list, sorted by key."""
        fields = (field for field in self.by_key if field.codec.parts[0].in_list)
        return tuple(
            (field.codec.key, list_description(field.codec)) for field in fields
        )

    @property
    def grouped(self) -> bool:
        """Whether some fields are equally long in every record."""
        return any(group_of(field.kind) for field in self.fields)

    @property
    def named_classes(self) -> bool:
        """Whether a field has classes with names."""
        return any(names_of(field.kind) for field in self.fields)

    @property
    def features(self) -> tuple[tuple[str, str], ...]:
        """The names in the dict of features, each with its field."""
        return tuple(
            (name, field.name)
            for field in self.inputs
            for name in (
                field.name,
                *[field.mask_name] * field.delivered.absence.masked,
            )
        )

    @property
    def augmented(self) -> tuple[FieldView, ...]:
        """The fields that are varied in training."""
        return tuple(field for field in self.fields if field.augmented)


def record_package(output: str, record: str) -> str:
    """Return the package of a record's generated code, as `train.py` imports it.

    Args:
        output: the directory of generated code, relative to the project.
        record: the record's name.
    """
    return ".".join([*PurePosixPath(output).parts, record])


@dataclass(frozen=True)
class TrainingView:
    """A record whose model is trained.

    Attributes:
        record: one that has a target.
        output: the directory of generated code, relative to the project.
    """

    record: RecordView
    output: str

    @property
    def package(self) -> Code:
        """The record's generated package."""
        return Code(record_package(self.output, self.record.spec.record))

    @property
    def imports(self) -> Code:
        """The imports from the record's generated package."""
        package = self.package
        lines = [
            import_line(f"{package}.model", ["adapt", "build_model", "export_serving"]),
            import_line(f"{package}.pipeline", ["make_dataset"]),
        ]
        return Code("\n".join(lines))
