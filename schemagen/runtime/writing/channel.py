"""Objects between two processes: a pickled head, then large memory as it is.

A socket takes five gigabytes in a second here, and a `multiprocessing.Connection`
less than one, since it gathers what it receives.
"""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

# The length of the head, the number of buffers, and then the length of each.
_LENGTHS = struct.Struct("<QQ")

# Smaller memory is not worth a call of its own, and goes into the head.
_LARGE = 1 << 14

# How much is to be on its way between two processes: enough for a large row or two,
# so that who sends it goes on while the other is still busy with those before.
_BETWEEN = 1 << 22

# Windows cannot wait for all of it.
_WAIT_FOR_ALL = getattr(socket, "MSG_WAITALL", 0)


@dataclass(frozen=True, slots=True)
class Packed:
    """An object on its way.

    Attributes:
        head: its pickle, without what is in `buffers`.
        buffers: the memory of all large `pickle.PickleBuffer` and arrays in it.
    """

    head: bytes | memoryview
    buffers: Sequence[memoryview]

    def unpacked(self) -> Any:
        """Return the object; raises whatever its classes do."""
        return pickle.loads(self.head, buffers=self.buffers)

    def kept(self) -> Packed:
        """Return the same with memory of its own."""
        return Packed(self.head, [memoryview(bytes(b)) for b in self.buffers])

    @property
    def size(self) -> int:
        """The bytes that it takes."""
        return len(self.head) + sum(map(len, self.buffers))


def pack(value: object) -> Packed:
    """Prepare an object for sending; large memory is only referred to.

    Raises:
        Exception: whatever pickling the object raises.
    """
    buffers: list[memoryview] = []

    def keep_small(buffer: pickle.PickleBuffer) -> bool:
        memory = buffer.raw()
        if len(memory) < _LARGE:
            return True
        buffers.append(memory)
        return False

    head = pickle.dumps(value, protocol=5, buffer_callback=keep_small)
    return Packed(head, buffers)


def connected() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a connection, for a `Channel` each."""
    ends = socket.socketpair()
    for end in ends:
        # The system gives what it allows of it.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BETWEEN)
    return ends


class Channel:
    """One end of a connected pair of sockets.

    One thread may send while another receives.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, packed: Packed) -> None:
        """Send all of an object, waiting until the other end has taken most of it.

        Raises:
            OSError: the other end is closed.
        """
        lengths = [len(packed.head), len(packed.buffers), *map(len, packed.buffers)]
        start = struct.pack(f"<{len(lengths)}Q", *lengths)
        if len(packed.head) < _LARGE:
            self._end.sendall(start + packed.head)
        else:
            self._end.sendall(start)
            self._end.sendall(packed.head)
        for buffer in packed.buffers:
            self._end.sendall(buffer)

    def receive(self) -> Packed:
        """Wait for an object.

        Raises:
            EOFError: the other end is closed.
        """
        head, buffers = _LENGTHS.unpack(self._read(_LENGTHS.size))
        lengths = struct.unpack(f"<{buffers}Q", self._read(8 * buffers))
        return Packed(self._read(head), [self._read(length) for length in lengths])

    def _read(self, size: int) -> memoryview:
        memory = np.empty(size, np.uint8).data  # not filled with zeros first
        missing = memory
        while missing:
            try:
                count = self._end.recv_into(missing, 0, _WAIT_FOR_ALL)
            except OSError:
                count = 0
            if not count:
                raise EOFError("the other process has closed the connection")
            missing = missing[count:]
        return memory

    def shut(self) -> None:
        """Wake a thread that sends or receives; nothing comes through any more."""
        with suppress(OSError):  # the other end may have done so before
            self._end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the socket."""
        self._end.close()
