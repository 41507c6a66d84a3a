"""An Arrow schema of a record's rows, as a message of Arrow's IPC format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ...findings import Finding, Location, refuse
from ...kinds.field import FieldSpec
from ...kinds.image import Image
from ...kinds.images import Images
from ...kinds.label import Label
from ...kinds.mask import Mask
from ...kinds.multilabel import MultiLabel
from ...kinds.ragged import Ragged
from ...kinds.scalar import Scalar
from ...kinds.sparse import Sparse
from ...kinds.steps import Steps
from ...kinds.tensor import Tensor
from ...kinds.text import Text
from ...kinds.varlen import VarLen
from ...kinds.vector import Vector
from ...spec.model import RecordSpec
from ...spec.serial import fingerprint, to_json

_NAMES = {
    "bool": "bool_",
    "string": "string",
    "bytes": "binary",
    "bfloat16": "float32",
}


def schema_bytes(spec: RecordSpec) -> bytes:
    """Return the schema that `pyarrow.ipc.read_schema` reads.

    Raises:
        SchemagenError: there is no pyarrow.
    """
    return bytes(schema(spec).serialize().to_pybytes())


def schema(spec: RecordSpec) -> Any:
    """Return the `pyarrow.Schema` of a record's rows."""
    pa = _pyarrow()
    root = _Branch()
    for each in spec.fields:
        root.put(each.path or (each.name,), each)
    metadata = {
        "schemagen.record": spec.record,
        "schemagen.fingerprint": fingerprint(spec),
        "schemagen.spec": to_json(spec),
    }
    return pa.schema([_arrow_field(pa, *leaf) for leaf in root.items()], metadata)


@dataclass
class _Branch:
    """Fields below a name, in the order of the schema."""

    below: dict[str, _Branch | FieldSpec] = field(default_factory=dict)

    def put(self, path: tuple[str, ...], spec: FieldSpec) -> None:
        name, *rest = path
        if not rest:
            self.below[name] = spec
            return
        branch = self.below.setdefault(name, _Branch())
        assert isinstance(branch, _Branch)
        branch.put(tuple(rest), spec)

    def items(self) -> Iterable[tuple[str, _Branch | FieldSpec]]:
        return self.below.items()


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise refuse(
            Finding(
                Location("pyarrow"),
                "SG452",
                "--to arrow needs pyarrow, which is not installed",
                advice="pip install 'schemagen[arrow]'",
            )
        ) from None
    return pyarrow


def _arrow_field(pa: Any, name: str, leaf: _Branch | FieldSpec) -> Any:
    if isinstance(leaf, _Branch):
        members = [_arrow_field(pa, *below) for below in leaf.items()]
        return pa.field(name, pa.struct(members), nullable=False)
    metadata = {"schemagen.kind": leaf.kind.name, "schemagen.role": leaf.role}
    if leaf.doc:
        metadata["schemagen.doc"] = leaf.doc
    number = getattr(leaf.kind, "num_classes", None)
    if number is not None:
        metadata["schemagen.num_classes"] = str(number)
    kind = _type(pa, leaf, inner=bool(leaf.path))
    return pa.field(name, kind, nullable=leaf.optional, metadata=metadata)


def _type(pa: Any, spec: FieldSpec, *, inner: bool) -> Any:
    """Return the type of a field's values.

    Args:
        pa: the module pyarrow.
        spec: the field.
        inner: it stands in a list or a struct, where no extension type is used.
    """
    match spec.kind:
        case Image(encoding="raw") | Mask(encoding="raw"):
            return _array(pa, spec.kind.shape, spec.kind.dtype, inner=inner)
        case Image() | Mask():
            return pa.binary()
        case Images():
            return _listed(pa, pa.binary(), spec.kind.count)
        case Label():
            return _class(pa, spec)
        case MultiLabel():
            return pa.list_(_class(pa, spec))
        case Scalar():
            return _number(pa, spec.kind.dtype)
        case Text():
            return pa.string()
        case Vector() | Tensor():
            return _array(pa, spec.kind.shape, spec.kind.dtype, inner=inner)
        case VarLen():
            return pa.list_(
                _array(pa, spec.kind.item_shape, spec.kind.dtype, inner=True)
            )
        case Ragged():
            return pa.list_(pa.list_(_number(pa, spec.kind.dtype)))
        case Sparse():
            index = _array(pa, (len(spec.kind.shape),), "int64", inner=True)
            index = pa.int64() if len(spec.kind.shape) == 1 else index
            values = pa.list_(_number(pa, spec.kind.dtype))
            members = [("indices", pa.list_(index)), ("values", values)]
            return pa.struct([pa.field(*each, nullable=False) for each in members])
        case Steps():
            return pa.list_(_type(pa, spec.step, inner=True))
    raise TypeError(spec.kind.name)


def _number(pa: Any, dtype: str) -> Any:
    return getattr(pa, _NAMES.get(dtype, dtype))()


def _class(pa: Any, spec: FieldSpec[Label | MultiLabel]) -> Any:
    return (
        pa.dictionary(pa.int32(), pa.string()) if spec.kind.class_names else pa.int64()
    )


def _listed(pa: Any, kind: Any, length: int | None) -> Any:
    return pa.list_(kind) if length is None else pa.list_(kind, length)


def _array(pa: Any, shape: tuple[int | None, ...], dtype: str, *, inner: bool) -> Any:
    number = _number(pa, dtype)
    fixed = None not in shape and all(shape)
    if not inner and fixed and len(shape) > 1 and dtype != "bool":
        return pa.fixed_shape_tensor(number, list(shape))
    for length in reversed(shape):
        number = _listed(pa, number, length)
    return number
