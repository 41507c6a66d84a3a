"""Models as TensorFlow SavedModels: what they take, what they return, and where they lie."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..records.nesting import flattened
from ..shared.errors import warn, with_suggestion
from ..shared.options import check_flags
from ..shared.platforms import exchange
from ..shared.requirements import keras, tf
from ..storage.directory import is_remote
from ..storage.lock import Lock, acquire

Parser = Callable[[tf.Tensor, Collection[str]], Mapping[str, Any]]
Features = dict[str, Any]

# TensorFlow's operations that call functions of Python.
_OF_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


def export(
    model: Any,
    path: str | os.PathLike[str],
    *,
    parse: Parser,
    fields: Collection[str],
    output: str,
    overwrite: bool,
) -> None:
    """Save a model with the signature `serving_default`.

    Args:
        model: a functional model from a dict of features to its predictions.
        path: the directory to write.
        parse: from serialized records [B] and names of fields to their tensors.
        fields: the names that `parse` knows.
        output: the name of the predictions, if the model has no names for them.
        overwrite: replace a SavedModel that is there.

    Raises:
        FileExistsError: there is something, and it may not be replaced.
        TypeError: the model has no dict of inputs, or is not one.
        ValueError: one of its inputs is not a field.
        RuntimeError: the model has not been adapted.
        DatasetError: `overwrite` is neither True nor False.
        NotImplementedError: Keras has another backend than TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise NotImplementedError(
            "export_serving needs the Keras backend 'tensorflow', found "
            f"{keras.backend.backend()!r}: save the model as .keras, load it where "
            "KERAS_BACKEND is tensorflow, and export it there"
        )
    if isinstance(path, keras.Model) or not isinstance(model, keras.Model):
        raise TypeError(
            f"found a {type(model).__name__} as the model and a {type(path).__name__} "
            "as the path, expected a Keras model and a str: the model comes first, then "
            "the path"
        )
    check_flags(overwrite=overwrite)
    target = os.fspath(path)
    check_place(target, overwrite=overwrite)
    inputs = _inputs_of(model)
    # A mask comes with its field: the parser has no name for it alone.
    wanted = [name for name in fields if {name, f"{name}_present"} & set(inputs)]
    records = tf.TensorSpec((None,), tf.string, name="examples")

    def parser_of(names: Collection[str]) -> Any:
        def features_of(examples: tf.Tensor) -> Features:
            batch = flattened(parse(examples, names))
            return {name: batch[name] for name in inputs if name in batch}

        return tf.function(features_of, input_signature=[records], autograph=False)

    parsed, traced = wanted, parser_of(wanted)
    concrete = traced.get_concrete_function() if wanted else None
    delivered = concrete.structured_outputs if concrete else {}
    _check_inputs(inputs, delivered)
    given: list[Any] = []
    if concrete and _calls_python(concrete):
        # A saved model has no Python: a client decodes these fields.
        decoded = [
            n for n in wanted if _calls_python(parser_of([n]).get_concrete_function())
        ]
        parsed = [name for name in wanted if name not in decoded]
        traced = parser_of(parsed)
        given = [
            tf.TensorSpec(delivered[name].shape, delivered[name].dtype, name)
            for name in inputs
            if {name, name.removesuffix("_present")} & set(decoded)
        ]
        for spec in given:
            warn(
                f"{path}: input {spec.name!r} is decoded by Python, which a SavedModel does "
                f"not have: the signature takes decoded {spec.dtype.name} values "
                f"{[None, *spec.shape[1:]]} as {spec.name!r}"
                + (", next to `examples`" if parsed else ", and no `examples`")
            )
    archive = keras.export.ExportArchive()
    archive.track(model)

    # Without a field to parse, there is nothing to read in records.
    taken = [records, *given] if parsed else given

    def serve(*values: tf.Tensor) -> Features:
        features = traced(values[0]) if parsed else {}
        decoded = values[len(taken) - len(given) :]
        named = zip((spec.name for spec in given), decoded, strict=True)
        predictions = model({**features, **dict(named)})
        if isinstance(predictions, Mapping):
            return dict(predictions)
        if isinstance(predictions, (list, tuple)):
            return dict(zip(model.output_names, predictions, strict=True))
        return {output: predictions}

    # It is traced now: what is wrong shows before a file is written.
    served = tf.function(serve, input_signature=taken, autograph=False)
    served.get_concrete_function()
    archive.add_endpoint("serving_default", served)
    with _unlogged():
        replace_directory(target, archive.write_out, overwrite=overwrite)


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep Keras from printing what it exports; it has no option for that before 3.8."""
    enabled = keras.config.is_interactive_logging_enabled()
    keras.config.disable_interactive_logging()
    try:
        yield
    finally:
        if enabled:
            keras.config.enable_interactive_logging()


def _calls_python(function: Any) -> bool:
    """Tell whether a traced function calls functions of Python, such as decoders."""
    graph = function.graph.as_graph_def()
    nodes = [
        *graph.node,
        *(n for each in graph.library.function for n in each.node_def),
    ]
    return any(node.op in _OF_PYTHON for node in nodes)


def _inputs_of(model: Any) -> list[str]:
    """Return the names of a model's inputs.

    Raises:
        TypeError: it has no inputs by name.
    """
    inputs = model.input if getattr(model, "inputs", None) else None
    if not isinstance(inputs, Mapping):
        raise TypeError(
            f"export_serving got {type(model).__name__} {model.name!r}, which has no "
            "dict of inputs, so its fields are unknown; expected a "
            "functional model like that of build_model, such as "
            "keras.Model(inputs, outputs) with inputs from make_inputs()"
        )
    return list(inputs)


def _check_inputs(inputs: Collection[str], delivered: Collection[str]) -> None:
    for name in inputs:
        if name not in delivered:
            words = (
                f"the model has an input {name!r}, which is not a field of the record"
            )
            raise ValueError(with_suggestion(words, name, delivered))


def check_place(path: str, *, overwrite: bool) -> None:
    """Refuse to write a SavedModel where something is that may not be replaced.

    Raises:
        FileExistsError: it exists. An empty directory may be replaced.
    """
    if not tf.io.gfile.exists(path) or _is_empty_directory(path):
        return
    if not _is_saved_model(path):
        raise FileExistsError(
            f"{path}: it exists and is not a SavedModel, so it is not replaced; "
            "export to another path"
        )
    if not overwrite:
        raise FileExistsError(
            f"{path}: a SavedModel exists; pass overwrite=True to replace it"
        )


def _is_empty_directory(path: str) -> bool:
    return bool(tf.io.gfile.isdir(path)) and not tf.io.gfile.listdir(path)


def _is_saved_model(path: str) -> bool:
    return bool(tf.io.gfile.exists(os.path.join(path, "saved_model.pb")))


def replace_directory(
    path: str, write: Callable[[str], None], *, overwrite: bool
) -> None:
    """Write a directory under a hidden name next to its own, and rename it when whole.

    A directory that is there is exchanged for the new one in one step, where the system
    can do so. What killed exports have left is removed.

    Args:
        path: the directory, or a link to it; if there is one it is replaced, once the new
            one is whole.
        write: writes a directory; takes its path.
        overwrite: replace a SavedModel that is there.

    Raises:
        FileExistsError: there is something, and it may not be replaced.
    """
    path = path if is_remote(path) else os.path.realpath(path)
    parent, name = os.path.split(path.rstrip("/" + os.sep))
    token = uuid.uuid4().hex[:12]
    new = os.path.join(parent, f".{name}.{token}.tmp")
    old = os.path.join(parent, f".{name}.{token}.old")
    if parent:
        tf.io.gfile.makedirs(parent)
    with _export_lock(parent, name) as lock:
        if lock.held:
            _remove_leftovers(parent, name, ".tmp")
        try:
            write(new)
            check_place(path, overwrite=overwrite)  # others may have written meanwhile
            if not tf.io.gfile.exists(path):
                tf.io.gfile.rename(new, path)
            elif is_remote(new) or not exchange(new, path):
                _replace_in_two_steps(new, path, old)
        finally:
            if tf.io.gfile.exists(new):
                tf.io.gfile.rmtree(new)
        if lock.held:
            # One of them may be the only model until the new one is there.
            _remove_leftovers(parent, name, ".old")


def _export_lock(parent: str, name: str) -> Lock:
    """Wait for other exports to a path; stores have no such lock."""
    if is_remote(parent):
        return Lock()
    return acquire(Path(parent) / f".{name}.lock", wait=True)


def _remove_leftovers(parent: str, name: str, ending: str) -> None:
    """Remove what killed exports to a local path have left."""
    pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{12}}{re.escape(ending)}")
    for found in os.listdir(parent or os.curdir):
        if pattern.fullmatch(found):
            shutil.rmtree(os.path.join(parent, found))


def _replace_in_two_steps(new: str, path: str, old: str) -> None:
    tf.io.gfile.rename(path, old)
    try:
        tf.io.gfile.rename(new, path)
    except BaseException:
        tf.io.gfile.rename(old, path)
        raise
    tf.io.gfile.rmtree(old)
