"""One rule decides which rows are good: in the writer, in a batch, in the schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from .generated_records import Generated, arguments, columns_of, taken_from
from .strategies import contract, wild


def outcome(call: Callable[..., Any], **row: Any) -> Any:
    """Return what a call returns, or the ValueError with which it refuses."""
    try:
        return call(**row)
    except ValueError as error:
        return error


@contract(40)
@given(data=st.data())
def test_schema_and_writer_accept_the_same_values(
    generated: Generated, data: st.DataObject
) -> None:
    """A value of any type is good for both or for neither, alone and in a batch."""
    case = generated.case
    good = arguments(data.draw(case.rows()))
    name = data.draw(
        st.sampled_from([n for n, f in case.fields.items() if not f.members])
    )
    value = data.draw(wild(case.fields[name]))
    # An explicit None says to the writer what leaving a field out says to both.
    assume(value is not None or not case.fields[name].default)
    row = {**good, name: value}
    columns = columns_of(case, [good, row])

    written = outcome(generated.serializer.serialize, **row)
    batch = outcome(generated.serializer.serialize_batch, **columns)
    instance = outcome(generated.record, **row)

    if isinstance(written, bytes):
        assert not isinstance(instance, ValidationError), instance
        taken = taken_from(case, instance, row)
        assert generated.serializer.serialize(**taken) == written
        assert batch == [generated.serializer.serialize(**good), written]
    else:
        assert type(written).__name__ == "RecordError"
        assert written.field == name
        assert written.row is None
        assert written.found
        assert written.expected
        assert isinstance(instance, ValidationError), instance
        assert [problem["loc"] for problem in instance.errors()] == [(name,)]
        assert str(written).endswith(instance.errors()[0]["msg"])
        assert type(batch).__name__ == "RecordError"
        assert (batch.field, batch.row) == (name, 1)
        assert (batch.found, batch.expected) == (written.found, written.expected)


@contract(3)
@given(data=st.data())
def test_a_field_too_many_or_too_few_is_refused(
    generated: Generated, data: st.DataObject
) -> None:
    """Keywords are the drift guard: no field is forgotten, none invented."""
    serialize = generated.serializer.serialize
    required = [n for n, f in generated.case.fields.items() if not f.default]

    row = arguments(data.draw(generated.case.rows()))
    with pytest.raises(TypeError, match="surplus"):
        serialize(**row, surplus=1)
    with pytest.raises(ValidationError, match="surplus"):
        generated.record(**row, surplus=1)
    for name in required:
        rest = {key: value for key, value in row.items() if key != name}
        with pytest.raises(TypeError, match=name):
            serialize(**rest)
        with pytest.raises(ValidationError, match=name):
            generated.record(**rest)
