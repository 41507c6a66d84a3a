"""Each template says what it is given, and uses nothing that it is not."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import pytest
from jinja2 import nodes
from schemagen.codegen.templates.catalogue import context_of, original, our_names
from schemagen.codegen.templates.environment import Templates
from template_types import Walk, kind_of

ENVIRONMENT = Templates().python


@cache
def exported() -> dict[str, set[str]]:
    """The names of the macros of each template."""
    return {
        name: {
            macro.name
            for macro in ENVIRONMENT.parse(original(name)).find_all(nodes.Macro)
        }
        for name in our_names()
    }


def stated_type(name: str) -> tuple[str, Any]:
    """Return the variable that a template is given, and its class."""
    context = context_of(original(name))
    assert context is not None, f"{name} does not say what it is given"
    module = importlib.import_module(
        context.module.removesuffix(".py").replace("/", ".")
    )
    found = getattr(module, context.type)
    assert found.__module__ == module.__name__, "it is only imported there"
    return context.name, found


def walked(name: str, text: str) -> Walk:
    return Walk(ENVIRONMENT.parse(text), *stated_type(name), exported())


@pytest.mark.parametrize("name", our_names())
def test_templates_use_only_what_their_context_has(name: str) -> None:
    """Each name is defined, and each attribute is one of the type before its dot."""
    walk = walked(name, original(name))
    assert not walk.faults
    assert walk.uses


@pytest.mark.parametrize("name", [n for n in our_names() if n.startswith("kinds/")])
def test_a_kind_s_macros_are_given_its_own_view(name: str) -> None:
    """The view of the kind names this very template."""
    variable, view = stated_type(name)
    assert variable == "f"
    if name == "kinds/parts.jinja":
        assert view.__name__ == "FieldView"
        return
    kind = kind_of(view)
    assert kind is not None
    assert f"kinds/{kind.name.lower()}.jinja" == name


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("parser.py.jinja", "record.context", "record.contxt", "RecordView has no"),
        (
            "parser.py.jinja",
            "field.mask_name",
            "field.mask_nam",
            "no attribute mask_nam",
        ),
        ("parser.py.jinja", "{{ key |", "{{ keys |", "keys is not defined"),
        ("model.py.jinja", "macros(field).loss", "macros(field).los", "no macro los"),
        ("kinds/text.jinja", "parts.fixed", "parts.fixt", "no macro fixt"),
        ("kinds/text.jinja", "f.name", "f.nam", "TextView has no attribute nam"),
        (
            "kinds/label.jinja",
            "f.spec.num_classes",
            "f.spec.shape",
            "no attribute shape",
        ),
        ("kinds/mask.jinja", "image.pixel_scale", "image.pixel", "ImageView has no"),
        ("serializer.py.jinja", "member.wanted", "member.want", "no attribute want"),
        ("serializer.py.jinja", "model.label", "model.labl", "no attribute labl"),
        ("init/train.py.jinja", "training.run", "training.rnu", "TrainingView has no"),
    ],
)
def test_a_wrong_name_would_be_found(name: str, old: str, new: str, fault: str) -> None:
    """The walk sees into loops, macros, blocks and calls."""
    text = original(name)
    assert old in text
    walk = walked(name, text.replace(old, new))
    assert any(fault in found for found in walk.faults), walk.faults
