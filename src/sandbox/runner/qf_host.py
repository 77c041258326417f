"""The supervisor's end of the attached stream: frames from and to the host, and the lease. `runner.py` describes the frames."""

import json
import os
import select
import struct
import time

LEASE_SECONDS = float(os.environ.get("QF_LEASE_SECONDS", "60"))
MAX_HOST_FRAME = 1 << 30
COALESCED = 1 << 16
# A wait that takes this much longer than it was asked to was no wait: the whole container stood still (machine suspended, `docker pause`),
# and the host could not be heard.
STANDSTILL_SECONDS = 2


class Host:
    """The two ends of the attached stream, and the lease."""

    def __init__(self):
        self.buffer = bytearray()
        self.unsent = bytearray()
        self.heard = time.monotonic()

    def lease_left(self):
        return LEASE_SECONDS - (time.monotonic() - self.heard)

    def _fill(self):
        data = os.read(0, 1 << 20)
        if not data:
            os._exit(0)
        self.heard = time.monotonic()
        self.buffer += data

    def _frame(self):
        if len(self.buffer) < 4:
            return None
        size = int.from_bytes(self.buffer[:4], "big")
        if size > MAX_HOST_FRAME:
            os._exit(3)
        if len(self.buffer) < 4 + size:
            return None
        body = bytes(self.buffer[4 : 4 + size])
        del self.buffer[: 4 + size]
        return json.loads(body)

    def next_request(self):
        while True:
            request = self._frame()
            if request is not None:
                return request
            asked, left = time.monotonic(), max(0, self.lease_left())
            if select.select([0], [], [], left)[0]:
                self._fill()
            elif time.monotonic() - asked < left + STANDSTILL_SECONDS:
                os._exit(0)
            else:
                self.heard = time.monotonic()

    def serve_pings(self):
        """Called when stdin is readable while a job runs; the host sends nothing else then."""
        self._fill()
        while True:
            request = self._frame()
            if request is None:
                return
            if request.get("op") == "ping":
                self.control({"pong": True})

    def send(self, tag, *parts):
        """Rows are gathered, since every write passes through three processes on its way to the host."""
        self.unsent += (sum(map(len, parts)) + 1).to_bytes(4, "big") + tag
        for part in parts:
            self.unsent += part
        if len(self.unsent) >= COALESCED:
            self.flush()

    def flush(self):
        data, self.unsent = self.unsent, bytearray()
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]

    def control(self, message):
        self.send(b"J", json.dumps(message).encode("ascii"))
        self.flush()

    def rows(self, first, count, row):
        self.send(b"R", struct.pack(">II", first, count), row if type(row) is bytes else json.dumps(row).encode("ascii"))


host = Host()
