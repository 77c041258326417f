"""PID 1 of a sandbox container: takes jobs from the host on stdin, runs each in forked children, answers on stdout. Standard library only.

host -> runner: four bytes of length (big endian), JSON.   {"op": "calls" | "stdio" | "judge" | "ping" | "versions", ...}
runner -> host: four bytes of length, one tag byte, body.
    J  JSON from this process: {"pong"}, {"versions"}, {"done", "recycle"}, {"failed"}
    R  rows [index, index + count) are this row: two four-byte numbers, then JSON made by the candidate or here
    S  a program's standard output for one input: four bytes of index, then the bytes
    O  a judge's output, as JSON text

One job at a time. A candidate can write what it likes into its own pipe: the frames are counted and forwarded, never parsed here, and
never hold more than a value that it could have returned. After each child every other process of the container is killed and /tmp is
emptied; where that fails the container gives itself up ("recycle"), after the rows are delivered.

Time is CPU time of the child, so that a busy machine does not turn slow into wrong; WALL_FACTOR times as much on the wall clock ends
programs that sleep, wait, stop themselves or burn CPU in children of their own.

The container ends by itself when the host is gone: end of stdin, or LEASE_SECONDS without a byte from it, in a job or not.
"""

import gc
import json
import os
import select
import shutil
import signal
import stat
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import qf_child
import qf_harden
import qf_encoding  # noqa: F401  (judges import it)

sys.path.remove(HERE)

# What programs of the benchmarks import; loaded once here, they cost a forked child nothing.
import bisect, cmath, collections, copy, dataclasses, datetime, decimal, enum, fractions, functools, hashlib, heapq, itertools  # noqa: E401, F401
import math, operator, random, re, statistics, string, typing  # noqa: E401, F401

LEASE_SECONDS = float(os.environ.get("QF_LEASE_SECONDS", "60"))
WALL_FACTOR = 10
CLEANUP_SECONDS = 5
MAX_HOST_FRAME = 1 << 30
MAX_JUDGE_OUTPUT = 256 << 20
MAX_REPORT = 64 << 10
CHUNK = 1 << 16
MAX_FD = 256
DEV_NULL = os.open("/dev/null", os.O_RDWR)


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
            if not select.select([0], [], [], max(0, self.lease_left()))[0]:
                os._exit(0)
            self._fill()

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
        if len(self.unsent) >= CHUNK:
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


class SandboxBroken(Exception):
    """The container can no longer promise a clean start to the next program."""


def _oom_kills():
    """Processes that the kernel killed in this container for memory: cgroup v2, then v1."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                for line in file:
                    name, _, value = line.partition(" ")
                    if name == "oom_kill":
                        return int(value)
        except (OSError, ValueError):
            pass
    return 0


def _cpu_seconds(pid):
    try:
        # The kernel's clock id of a process's CPU time (CPUCLOCK_SCHED in posix-timers.h); what clock_getcpuclockid(3) computes.
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def kill_everyone():
    """kill(-1) from PID 1 reaches every other process of the container at once, whatever its session, and needs no free process slot."""
    deadline = time.monotonic() + CLEANUP_SECONDS
    while True:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        if time.monotonic() > deadline:
            raise SandboxBroken("processes would not die")
        time.sleep(0.001)


def _unlock(function, path, _):
    for target in (os.path.dirname(path), path):
        if not os.path.islink(target) and target != "/tmp":
            os.chmod(target, 0o700)
    function(path)


def empty_tmp():
    try:
        for entry in os.listdir(b"/tmp"):
            path = b"/tmp/" + entry
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode):
                os.chmod(path, 0o700)
                shutil.rmtree(path, onerror=_unlock)
            else:
                os.unlink(path)
        if os.listdir(b"/tmp"):
            raise SandboxBroken("/tmp could not be emptied")
    except (OSError, RecursionError, MemoryError) as error:
        raise SandboxBroken("/tmp could not be emptied: %s" % type(error).__name__)


def clean_up():
    kill_everyone()
    empty_tmp()


class Child:
    """One forked process, seen from here: its frames, its output, its end."""

    def __init__(self, run, memory_bytes, cpu_seconds, stdin=None, capture=False):
        self.exited = self.status = None
        self.frames, self.output = bytearray(), bytearray()
        self.oom_before = _oom_kills()
        result, result_end = os.pipe()
        stdout, stdout_end = os.pipe() if capture else (None, DEV_NULL)
        try:
            self.pid = os.fork()
        except OSError:
            # Nobody else is alive in here: the host is out of memory or processes, and that is no program's fault.
            os._exit(5)
        if self.pid == 0:
            self._become(run, memory_bytes, cpu_seconds, stdin, stdout_end, result_end)
        os.close(result_end)
        if capture:
            os.close(stdout_end)
        self.fds = {result: self.frames}
        if capture:
            self.fds[stdout] = self.output
        for fd in self.fds:
            os.set_blocking(fd, False)
        try:
            self.pidfd = os.pidfd_open(self.pid)
        except (OSError, AttributeError):
            self.pidfd = None
        self.poll = select.poll()
        for fd in (0, self.pidfd, *self.fds):
            if fd is not None:
                self.poll.register(fd, select.POLLIN)
        self.restart_clock()

    def _become(self, run, memory_bytes, cpu_seconds, stdin, stdout, result):
        try:
            os.setsid()
            os.dup2(DEV_NULL if stdin is None else stdin, 0)
            os.dup2(stdout, 1)
            os.dup2(DEV_NULL, 2)
            os.closerange(3, result)
            os.closerange(result + 1, MAX_FD)
            os.chdir("/tmp")
            qf_harden.prefer_for_oom()
            qf_harden.limit(memory_bytes, cpu_seconds)
            qf_harden.refuse_system_calls()
            run(result)
        finally:
            os._exit(70)

    def restart_clock(self):
        self.cpu_start, self.wall_start = _cpu_seconds(self.pid), time.monotonic()

    def _read(self, fd, cap):
        """False when more than `cap` bytes are waiting to be understood. Empties the pipe, so that what a dead child wrote is all here."""
        sink = self.fds[fd]
        while len(sink) <= cap:
            try:
                data = os.read(fd, CHUNK)
            except BlockingIOError:
                return True
            if not data:
                self.poll.unregister(fd)
                os.close(fd)
                del self.fds[fd]
                return True
            sink += data
            if self.exited is None and len(data) < CHUNK:
                return True
        return False

    def _take_frame(self, cap):
        if len(self.frames) < 5:
            return None
        size = int.from_bytes(self.frames[1:5], "big")
        if size > cap:
            return "overflow", b"", b""
        if len(self.frames) < 5 + size:
            return None
        tag, payload = bytes(self.frames[:1]), bytes(self.frames[5 : 5 + size])
        del self.frames[: 5 + size]
        return "frame", tag, payload

    def next(self, cap, cpu_seconds, wall_seconds):
        """The next event: ("frame", tag, payload), ("overflow",…), ("timeout",…) or ("exit",…); a dead child's frames come before its exit."""
        while True:
            event = self._take_frame(cap)
            if event is not None:
                return event
            if self.exited:
                return "exit", b"", b""
            cpu_left = cpu_seconds - (_cpu_seconds(self.pid) - self.cpu_start)
            wall_left = wall_seconds - (time.monotonic() - self.wall_start)
            if cpu_left <= 0 or wall_left <= 0:
                return "timeout", b"", b""
            if host.lease_left() <= 0:
                os._exit(0)
            patience = min(cpu_left, wall_left, host.lease_left(), 1.0 if self.pidfd is not None else 0.01)
            ready = self.poll.poll(max(1, patience * 1000))
            fds = [fd for fd, _ in ready]
            if 0 in fds:
                host.serve_pings()
            if self.pidfd is None or self.pidfd in fds:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.exited, self.status = True, status
                    fds = list(self.fds)
            for fd in fds:
                if fd in self.fds and not self._read(fd, cap + CHUNK):
                    return "overflow", b"", b""

    def how_it_ended(self):
        """The row of a child that left without one."""
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            if number == signal.SIGXCPU:
                return {"kind": "timeout"}
            if number == signal.SIGXFSZ:
                return {"kind": "output_limit"}
            if number == signal.SIGKILL and _oom_kills() > self.oom_before:
                return {"kind": "memory_limit"}
            try:
                name = signal.Signals(number).name
            except ValueError:
                name = str(number)
            return {"kind": "crash", "detail": "killed by %s" % name}
        return {"kind": "crash", "detail": "exited early with status %d" % os.WEXITSTATUS(self.status)}

    def close(self):
        for fd in (self.pidfd, *self.fds):
            if fd is not None:
                os.close(fd)
        self.fds = {}
        clean_up()


class Bounds:
    def __init__(self, limits):
        self.cpu, self.memory, self.output = float(limits["cpuSeconds"]), int(limits["memoryBytes"]), int(limits["outputBytes"])
        self.wall = self.cpu * WALL_FACTOR


def do_calls(job):
    bounds, calls, stop_after = Bounds(job["limits"]), job["calls"], job.get("stopAfter")
    total, index, abnormal, output_left = len(calls), 0, 0, bounds.output
    while index < total:
        first, left = index, output_left
        # A net below the supervised clock: all remaining calls may use their full time.
        cpu_net = int(bounds.cpu * (total - first + 1)) + 2
        child = Child(lambda fd: qf_child.run_calls(fd, job["source"], job["entryPoint"], calls, first, left), bounds.memory, cpu_net)
        loaded = False
        try:
            while index < total:
                # Room for one row of the other kinds when the budget is spent.
                event, tag, payload = child.next(output_left + 8192, bounds.cpu, bounds.wall)
                child.restart_clock()
                if event == "frame" and tag == b"L" and not loaded:
                    loaded = True
                    continue
                if event == "frame" and tag == b"F" and not loaded:
                    host.rows(index, total - index, payload)
                    index = total
                    break
                if event == "frame" and tag in (b"R", b"A") and loaded:
                    host.rows(index, 1, payload)
                    index += 1
                    output_left = max(0, output_left - len(payload))
                    abnormal += tag == b"A"
                    if stop_after is not None and abnormal >= stop_after:
                        break
                    continue
                if event == "timeout":
                    row = {"kind": "timeout"}
                elif event == "overflow":
                    row = {"kind": "output_limit"}
                elif event == "exit":
                    row = child.how_it_ended()
                else:
                    row = {"kind": "crash", "detail": "wrote into its result pipe"}
                # What ends the program while it loads ends it for every call.
                count = 1 if loaded else total - index
                host.rows(index, count, row)
                index += count
                abnormal += 1
                break
        finally:
            child.close()
        if index < total and stop_after is not None and abnormal >= stop_after:
            host.rows(index, total - index, {"kind": "not_run"})
            index = total


def do_stdio(job):
    bounds, inputs, stop_after = Bounds(job["limits"]), job["inputs"], job.get("stopAfter")
    abnormal, output_left = 0, bounds.output
    for index, text in enumerate(inputs):
        if stop_after is not None and abnormal >= stop_after:
            host.rows(index, len(inputs) - index, {"kind": "not_run"})
            return
        # A file in memory: a program that reads none of it blocks nobody.
        stdin = os.memfd_create("stdin", os.MFD_CLOEXEC)
        data = memoryview(text.encode("utf-8", "surrogatepass"))
        while data:
            data = data[os.write(stdin, data) :]
        os.lseek(stdin, 0, os.SEEK_SET)
        child = Child(lambda fd: qf_child.run_stdio(fd, job["source"]), bounds.memory, int(bounds.cpu) + 2, stdin=stdin, capture=True)
        os.close(stdin)
        report = None
        try:
            while True:
                event, tag, payload = child.next(max(output_left, MAX_REPORT), bounds.cpu, bounds.wall)
                if event == "frame":
                    # The clock runs on: a frame here is the reason of a bad end, not progress.
                    report = payload if tag == b"E" and len(payload) <= MAX_REPORT else report
                    continue
                break
            if event == "overflow" or len(child.output) > output_left:
                row = {"kind": "output_limit"}
            elif event == "timeout":
                row = {"kind": "timeout"}
            elif child.status == 0:
                row = None
                host.send(b"S", struct.pack(">I", index), child.output)
                output_left -= len(child.output)
            elif report is not None and os.WIFEXITED(child.status):
                row = report
            else:
                row = child.how_it_ended()
            if row is not None:
                host.rows(index, 1, row)
                abnormal += row is not report
        finally:
            child.close()


def do_judge(job):
    seconds = float(job["seconds"])
    child = Child(lambda fd: qf_child.run_judge(fd, job["source"], job["input"]), int(job["memoryBytes"]), int(seconds) + 2)
    try:
        event, tag, payload = child.next(MAX_JUDGE_OUTPUT, seconds, seconds)
        if event == "frame" and tag == b"O":
            host.send(b"O", payload)
        elif event == "frame" and tag == b"E":
            row = json.loads(payload)
            host.control({"failed": row["kind"], "detail": row.get("detail", "")})
        elif event == "timeout":
            host.control({"failed": "timeout", "detail": "no answer within %g s" % seconds})
        else:
            row = {"kind": "crash", "detail": "wrote too much"} if event == "overflow" else child.how_it_ended()
            host.control({"failed": row["kind"], "detail": row.get("detail", "")})
    finally:
        child.close()


def versions():
    from importlib import metadata
    try:
        numpy = metadata.version("numpy")
    except metadata.PackageNotFoundError:
        numpy = ""
    return {"python": ".".join(map(str, sys.version_info[:3])), "numpy": numpy}


JOBS = {"calls": do_calls, "stdio": do_stdio, "judge": do_judge}


def main():
    qf_harden.set_dumpable(False)
    gc.collect()
    gc.freeze()
    host.control({"ready": True})
    while True:
        request = host.next_request()
        operation = request["op"]
        if operation == "ping":
            host.control({"pong": True})
        elif operation == "versions":
            host.control({"versions": versions()})
            host.control({"done": True})
        else:
            recycle = None
            try:
                JOBS[operation](request)
            except SandboxBroken as error:
                recycle = str(error)
            host.control({"done": True, "recycle": recycle})
            if recycle is not None:
                os._exit(4)


if __name__ == "__main__":
    main()
