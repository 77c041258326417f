"""The supervisor's end of the attached stream: frames from and to the host, and the lease. `runner.py` describes the frames."""

import json
import os
import select
import struct
import time

from qf_scratch import Scratch

LEASE_SECONDS = float(os.environ.get("QF_LEASE_SECONDS", "60"))
MAX_HOST_FRAME = 1 << 30
COALESCED = 1 << 16
CHUNK = 1 << 20
# A wait that takes this much longer than it was asked to was no wait: the whole container stood still (machine suspended, `docker pause`),
# and the host could not be heard.
STANDSTILL_SECONDS = 2


class Host:
    """The two ends of the attached stream, and the lease."""

    def __init__(self):
        self.unsent = Scratch()
        self.heard = time.monotonic()
        # Seconds in which this process could do nothing but wait for the host to read.
        self.blocked = 0.0

    def lease_left(self):
        return LEASE_SECONDS - (time.monotonic() - self.heard)

    def _read(self, size):
        """Exactly so many bytes, which may take as long as the lease lasts. Ends this process where the host has."""
        data = Scratch()
        while len(data) < size:
            asked, left = time.monotonic(), max(0, self.lease_left())
            if not select.select([0], [], [], left)[0]:
                if time.monotonic() - asked < left + STANDSTILL_SECONDS:
                    os._exit(0)
            elif data.read_from(0, min(CHUNK, size - len(data))) == 0:
                os._exit(0)
            self.heard = time.monotonic()
        return data

    def _number(self):
        size = int.from_bytes(self._read(4).peek(4), "big")
        if size > MAX_HOST_FRAME:
            os._exit(3)
        return size

    def next_request(self):
        """(request, payload): the request is the host's own; the payload, as Scratch, is what no other job may see."""
        size = self._number()
        request = json.loads(self._read(size).peek(size))
        return request, self._read(self._number())

    def serve_pings(self):
        """Called when stdin is readable while a job runs; the host sends nothing else then."""
        request, _ = self.next_request()
        if request.get("op") == "ping":
            self.control({"pong": True})

    def send(self, tag, *parts):
        """Rows are gathered, since every write passes through three processes on its way to the host."""
        self.unsent.add((sum(map(len, parts)) + 1).to_bytes(4, "big") + tag)
        for part in parts:
            self.unsent.add(part)
        if len(self.unsent) >= COALESCED:
            self.flush()

    def flush(self):
        asked = time.monotonic()
        self.unsent.write_to(1)
        self.blocked += time.monotonic() - asked

    def control(self, message):
        self.send(b"J", json.dumps(message).encode("ascii"))
        self.flush()

    def rows_said(self, first, count, payload):
        """What a program says of its calls [first, first + count)."""
        self.send(b"R", struct.pack(">II", first, count), payload)

    def rows_framed(self, first, payload):
        """The same of calls from `first` on, a frame of the program each (V, P, R: `qf_child.py`)."""
        self.send(b"B", struct.pack(">I", first), payload)

    def rows(self, first, count, row):
        """What this process says of them."""
        self.send(b"N", struct.pack(">II", first, count), json.dumps(row).encode("ascii"))

    def near_limit(self, first, count=1):
        self.send(b"L", struct.pack(">II", first, count))


host = Host()
