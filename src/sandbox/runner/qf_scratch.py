"""Memory for what belongs to one job: its program and inputs, and what comes back.

Programs are forked from PID 1 and can read all of its heap, and what Python frees there stays readable until it is written over. So bytes
of a job never become Python objects of PID 1: they live in mappings that go back to the system with the job, and no program sees what
an earlier one was sent or answered.
"""

import mmap
import os

PAGE = mmap.PAGESIZE


class Scratch:
    """A growing queue of bytes. Views of it must be released before anything is added."""

    __slots__ = ("_map", "_first", "_last")

    def __init__(self):
        self._map, self._first, self._last = None, 0, 0

    def __len__(self):
        return self._last - self._first

    def _make_room(self, size):
        if self._map is None:
            self._map = mmap.mmap(-1, -(-max(size, 1 << 16) // PAGE) * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        elif self._last + size > len(self._map) and self._first > 0:
            self._map.move(0, self._first, len(self))
            self._first, self._last = 0, len(self)
        if self._last + size > len(self._map):
            self._map.resize(-(-max(self._last + size, 2 * len(self._map)) // PAGE) * PAGE)

    def read_from(self, fd, at_most):
        """How many bytes one read of the descriptor gave; 0 at its end."""
        self._make_room(at_most)
        with memoryview(self._map) as whole, whole[self._last : self._last + at_most] as room:
            got = os.readv(fd, [room])
        self._last += got
        return got

    def add(self, part):
        self._make_room(len(part))
        self._map[self._last : self._last + len(part)] = part
        self._last += len(part)

    def peek(self, size):
        """The first bytes as a copy: for headers, never for contents."""
        return self._map[self._first : self._first + size]

    def view(self, start=0, size=None):
        if self._map is None:
            return memoryview(b"")
        start += self._first
        end = self._last if size is None else start + size
        with memoryview(self._map) as whole:
            return whole[start:end]

    def skip(self, size):
        self._first += size
        if self._first == self._last:
            self._first = self._last = 0

    def write_to(self, fd):
        """All of it, and is empty then."""
        while len(self) > 0:
            with self.view() as rest:
                sent = os.write(fd, rest)
            self.skip(sent)

    def drop(self):
        if self._map is not None:
            self._map.close()
        self._map, self._first, self._last = None, 0, 0
