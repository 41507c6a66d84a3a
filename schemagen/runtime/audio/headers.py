"""What the header of encoded sound says."""

from __future__ import annotations

from typing import NamedTuple

from ..shared.errors import Problem


class AudioHeader(NamedTuple):
    """What the header of encoded sound says.

    Attributes:
        rate: in Hz.
        channels: how many there are.
        samples: how many each channel has.
        bits: of a sample.
    """

    rate: int
    channels: int
    samples: int
    bits: int = 16

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.samples / self.rate if self.rate else 0.0


def other_samples(title: str, found: str) -> Problem:
    """Return what is wrong with samples that are not integers of 16 bits.

    Args:
        title: the name of the format.
        found: what its samples are.
    """
    return Problem(
        f"a {title} of {found}",
        "16-bit PCM",
        "convert it with soundfile: data, rate = sf.read(file), then "
        "sf.write(file, data, rate, subtype='PCM_16')",
    )


def check_header(title: str, found: AudioHeader, rate: int, channels: int) -> None:
    """Compare a header with what a field declares.

    Raises:
        Problem: another rate, or another number of channels.
    """
    if found.rate != rate:
        raise Problem(
            f"a {title} of {found.rate:,} Hz",
            f"{rate:,} Hz",
            f"resample it, or declare rate={found.rate}",
        )
    if found.channels != channels:
        raise Problem(
            f"a {title} of {counted(found.channels)}",
            counted(channels),
            "pass the samples of those channels that are wanted, or declare "
            f"channels={found.channels}",
        )


def counted(channels: int) -> str:
    """Return a number of channels in words."""
    return "1 channel" if channels == 1 else f"{channels} channels"
