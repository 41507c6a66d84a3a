"""Sound: WAV, FLAC, or raw samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from ..audio.formats import DECODED, encode, header_of
from ..audio.headers import check_header
from ..audio.samples import SCALE, Samples, as_floats
from ..cells.cells import Read, Source
from ..cells.checks import BytesCheck, Checks
from ..cells.decoded import Form, RaggedRows, Values
from ..cells.delivered import Delivered
from ..cells.in_numpy import ColumnSource
from ..cells.in_tensorflow import TensorCells, TensorSource, checked
from ..cells.part import BYTES, Part
from ..cells.written import Stored
from ..images.pixels import each
from ..native.memory import empty
from ..shared.errors import Problem
from ..shared.requirements import lazy_tf as tf
from ..shared.values import check_shape, described
from ..tensorflow import graph
from ..tensorflow.parsed import Parsed
from .changes import CHANNELS, ENCODING, LIMIT, RATE, SAMPLES, TOO_LONG
from .kind import Default, Kind
from .limits import Listed
from .lists import NumberList, limit_problems
from .parameters import Size, TooLong, declared, parameter
from .pictures import advice_for
from .python_types import is_picture

_DAMAGED = "sound cannot be decoded"

Seconds = Annotated[int | float, Gt(0), "a positive number of seconds"]


@declared
class Audio(Listed):
    """Sound of any length: [T, channels] samples.

    Attributes:
        rate: samples of a channel in a second (Hz).
        channels: how many there are, such as 2 for stereo.
        encoding: "wav" stores a WAV file of 16-bit PCM, "flac" a FLAC file of 16 bits,
            which needs soundfile, and "raw" little-endian samples of the dtype.
        dtype: of the samples that readers deliver: "float32", from -1 to 1 as
            tf.audio.decode_wav returns them, or "int16". Of 16-bit integers floats are
            these divided by 32,768.
        max_length: the most samples that a row may have; None for any number.
        max_seconds: the same in seconds.
        too_long: what becomes of more: "error" refuses them, "keep_head" keeps the first
            and "keep_tail" the last of them. Files that a writer takes as bytes are
            stored as they are, and cut when they are read.
        ragged: deliver a RaggedTensor in place of a padded batch.
        crop: deliver a random window of so many samples in training, another one each
            time that the record comes up. Shorter sound is padded with zeros.
    """

    rate: Size = parameter(*RATE)
    channels: Size = parameter(*CHANNELS, default=1)
    encoding: Literal["wav", "flac", "raw"] = parameter(*ENCODING, default="wav")
    dtype: Literal["int16", "float32"] = parameter(*SAMPLES, default="float32")
    max_length: Size | None = parameter(*LIMIT, default=None)
    max_seconds: Seconds | None = parameter(default=None, omit_default=True)
    too_long: TooLong = parameter(*TOO_LONG, default="error", omit_default=True)
    ragged: bool = parameter(default=False)
    crop: Size | None = parameter(default=None, omit_default=True)

    kind: ClassVar[str] = "Audio"
    holds: ClassVar[str] = "np.ndarray, or bytes if it is encoded"
    noun: ClassVar[str] = "samples"
    takes_default: ClassVar[Default] = "empty"
    group: ClassVar[None] = None  # type: ignore[misc]
    padding_value: ClassVar[int] = 0  # type: ignore[misc]

    def form(self) -> type[Audio]:
        return RawAudio if self.encoding == "raw" else EncodedAudio

    @property
    def python_type(self) -> str:
        return "np.ndarray" if self.encoding == "raw" else "bytes"

    def accepts(self, python_type: Any) -> bool:
        return is_picture(python_type, encoded=self.encoding != "raw")

    def rules(self) -> Iterator[Problem]:
        yield from Kind.rules(self)
        if self.max_seconds is not None:
            if self.max_length is not None:
                yield Problem("max_length and max_seconds", "one of them")
            elif not self._most:
                yield Problem(f"max_seconds={self.max_seconds!r}", "a sample or more")
        else:
            yield from limit_problems(self)
        most = self._most
        if self.crop and most and self.crop > most:
            expected = f"at most {most}, as many samples as a row may have"
            yield Problem(f"crop={self.crop}", expected)

    @property
    def _most(self) -> int | None:
        """The most samples of a row, which are stated in samples or in seconds."""
        if self.max_seconds is None:
            return self.max_length
        return round(self.max_seconds * self.rate)

    def resolved(self, name: str) -> Self:
        # Not that of a list, whose parameters raw samples do not have.
        resolved = Kind.resolved(self, name)
        return replace(resolved, max_length=self._most, max_seconds=None)

    @property
    def item_shape(self) -> tuple[int, ...]:
        """The shape of the samples of one moment."""
        return (self.channels,)

    @cached_property
    def delivered(self) -> Delivered:
        decoded = None if self.encoding == "raw" else ("bytes", ())
        return self._delivers_items((None, self.channels), decoded=decoded)

    def samples(self, value: Any) -> NDArray[Any]:
        """Return the samples of an array as they are stored: [T, channels].

        Raises:
            Problem: of another shape or dtype, or out of range.
        """
        array = self._samples.convert(value)
        if array.shape == (0,) or (array.ndim == 1 and self.channels == 1):
            array = array.reshape(-1, self.channels)
        try:
            check_shape(array, (None, self.channels))
        except Problem as problem:
            turned = array.ndim == 2 and len(array) == self.channels
            advice = "the channels come last: pass its transpose" if turned else ""
            raise Problem(problem.found, problem.expected, advice) from None
        self._limit.check(len(array))
        return array

    @cached_property
    def _samples(self) -> Samples:
        return Samples(self.dtype if self.encoding == "raw" else "int16")


# Its parameters are those of Audio, and what it does with them is of lists.
class RawAudio(Audio, NumberList):  # type: ignore[misc, override]
    """Sound as raw samples: a list of items of one sample for each channel."""

    def bind(self) -> None:
        super().bind()
        self._numbers = self._samples

    def convert(self, value: Any) -> NDArray[Any]:
        return self.samples(value)


class EncodedAudio(Audio):
    """Sound in the files of a format."""

    def bind(self) -> None:
        super().bind()
        self._format = DECODED[self.encoding]

    def make_parts(self) -> tuple[Part, ...]:
        part = Part(
            self.key,
            BYTES,
            encoding=self.encoding,
            dtype="int16",
            missing=b"" if self.optional else None,
            item_size=1,
        )
        return (part,)

    # Writing.

    def convert(self, value: Any) -> bytes | NDArray[np.int16]:
        if not isinstance(value, bytes):
            if isinstance(value, (np.ndarray, list, tuple)):
                return self.samples(value)
            expected = f"the bytes of a {self._format.title}, or an array of samples"
            raise Problem(described(value), expected, advice_for(value))
        if self.encoding == "flac":  # its header does not tell whether it is whole
            self.check_encoded(value)
            self.check_samples(value)
        return value

    def store(self, value: Any) -> Sequence[Stored]:
        sound = self.convert(value)
        if not isinstance(sound, bytes):
            sound = encode(self._limit.cut(sound), self.rate, self.encoding)
        return ((sound,),)

    @property
    def checks(self) -> Checks:
        return (
            BytesCheck("SG528", "sound does not match the schema", self.check_encoded),
        )

    def check_encoded(self, data: bytes) -> None:
        """Compare the header of a file with what is declared.

        Raises:
            Problem: readers would not read it as the schema says.
        """
        _, header = header_of(data, self.encoding)
        check_header(self._format.title, header, self.rate, self.channels)
        self._limit.check(header.samples)

    def check_samples(self, data: bytes) -> None:
        """Decode a file whose header is right.

        Raises:
            Problem: its samples are damaged.
        """
        try:
            self._format.decode(data)
        except ValueError as error:
            raise Problem(str(error), f"a whole {self._format.title}") from None

    # Reading.

    def cells(self, source: Source) -> tuple[Any, ...]:
        assert isinstance(source, ColumnSource)
        found = source.read(self.parts[0], f"the bytes of a {self._format.title}")
        if self.optional and not source.notes.packed:
            found = found.only(found.sizes > 0)
        return (found,)

    def read(self, source: Source) -> Read:
        if isinstance(source, TensorSource):
            return None, lambda: self._parsed(source.parsed)
        assert isinstance(source, ColumnSource)
        checks = self.checked
        if source.notes.thorough:
            checks = (*checks, BytesCheck("SG528", _DAMAGED, self.check_samples))
        (found,) = source.checked(self.cells(source), *checks)
        return found, found.bytes

    def in_form(self, values: Values, form: Form) -> Values:
        """Decode files, on all cores."""
        if not form.images:
            return values
        counts = [self._format.header(data).samples for data in values]
        if self.max_length is not None:
            counts = [min(count, self.max_length) for count in counts]
        ends = np.cumsum(counts, dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        flat = empty((total, self.channels), np.dtype(self.dtype))

        def put(numbered: tuple[int, bytes]) -> None:
            at, data = numbered
            place = flat[ends[at] - counts[at] : ends[at]]
            found = self._limit.cut(self._format.decode(data))
            if self.dtype == "int16":
                place[:] = found
            else:
                as_floats(found, place)

        each(put, list(enumerate(values)))
        return RaggedRows(flat, np.array(counts, np.int64))

    def present(self, parsed: Parsed, tensor: Any) -> Any:
        return tf.not_equal(parsed[self.key], "")

    def lengths(self, stored: Any) -> Any:
        """Return how many samples parsed files have: int64 [B]."""
        return self._format.lengths_in_tensorflow(stored)

    def _parsed(self, parsed: Parsed) -> Any:
        flat, lengths = self._format.in_tensorflow(
            parsed[self.key],
            self.label,
            self.rate,
            self.channels,
            optional=self.optional,
        )
        if self.dtype == "float32":
            flat = tf.cast(flat, tf.float32) / SCALE
        lists = tf.RaggedTensor.from_row_lengths(flat, lengths, validate=False)
        cells = (TensorCells(self.label, lists),)
        (found,) = checked(cells, *self._limit.checks())
        kept = self._limit.kept(found.tensor)
        return kept if self.ragged else graph.padded(kept, self.delivered.filler)
