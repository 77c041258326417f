"""PID 1 of a sandbox container: takes jobs from the host on stdin, runs each in forked children, answers on stdout. Standard library only.

host -> runner: four bytes of length (big endian), JSON: {"op": "calls" | "stdio" | "judge" | "ping" | "versions", ...}
                four bytes of length, a payload that only the job's own processes read (`qf_scratch.py`): JSON, or nothing.
                calls {calls} and then each program {source, entryPoint}, stdio {source, inputs}, judge {input}
runner -> host: four bytes of length, one tag byte, body.
    J  JSON from this process: {"pong"}, {"versions"}, {"done", "recycle"}
    R  rows [index, index + count) are this row: two four-byte numbers, then what the program says; rows are counted through all programs
    B  rows from this index (four bytes) on, as the program framed them: `qf_child.py`, V, P and R
    N  the same, and the row is this process's word: JSON
    L  rows [index, index + count) came near their limit of time: two four-byte numbers
    S  a program's standard output for one input: four bytes of index, then the bytes
    O  a judge's output, as JSON text
    E  why a judge has none: JSON made by it or here

One job at a time. A candidate can write what it likes into its own pipe: the frames are counted and forwarded, never parsed here, and
never hold more than a value that it could have returned or an exception that it could have raised. After each child every other process of the container is killed and /tmp is
emptied; where that fails the container gives itself up ("recycle"), after the rows are delivered.

Time is CPU time of the child, so that a busy machine does not turn slow into wrong; WALL_FACTOR times as much on the wall clock
(less the time that it waited for a processor) ends programs that sleep, wait, stop themselves or burn CPU in children of their own.
A whole job of one program has a budget of both: TOTAL_CPU times the CPU seconds of one call (or what the job says), and TOTAL_WALL times
that on the wall clock. What is left of the job when it is spent are timeouts.

The container ends by itself when the host is gone: end of stdin, or LEASE_SECONDS without a byte from it, in a job or not.
"""

import gc
import json
import os
import signal
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import qf_child
import qf_encoding  # noqa: F401  (judges import it)
import qf_harden
from qf_host import host
from qf_scratch import Scratch
from qf_supervise import Child, SandboxBroken

sys.path.remove(HERE)

# What programs of the benchmarks import; loaded once here, they cost a forked child nothing.
import ast, bisect, cmath, collections, contextlib, copy, dataclasses, datetime, decimal, enum, fractions, functools, hashlib, heapq, itertools  # noqa: E401, F401
import math, operator, random, re, statistics, string, typing  # noqa: E401, F401

WALL_FACTOR = 10
# Of its time, CPU or wall, a call that used this much could be over the limit on another day.
NEAR_LIMIT = 0.75
# Seconds, at most.
FREE_LOAD = 1.0
TOTAL_CPU = 20
TOTAL_WALL = 2
MAX_JUDGE_SOURCES = 8
MAX_JUDGE_OUTPUT = 256 << 20
MAX_REPORT = 64 << 10


class Bounds:
    """Limits of one call, and what is left of the job's budget of time."""

    def __init__(self, limits):
        self.cpu, self.memory, self.output = float(limits["cpuSeconds"]), int(limits["memoryBytes"]), int(limits["outputBytes"])
        self.load = float(limits.get("loadCpuSeconds", self.cpu))
        self.cpu_left = float(limits.get("totalCpuSeconds", self.cpu * TOTAL_CPU))
        self.wall_left = self.cpu_left * TOTAL_WALL
        self.near = False
        self.cell, self.first_load = limits.get("isolation") == "cell", None

    def next_of_load(self, child, cap):
        """The same while the program is loaded. Where every call loads it anew, only the first time counts among what all calls have together."""
        cpu, wall = self.cpu_left, self.wall_left
        event = self.next(child, cap, self.load)
        spent = cpu - self.cpu_left, wall - self.wall_left
        if self.first_load is None:
            self.first_load = spent
        elif self.cell:
            free = [min(now, first * 2, FREE_LOAD) for now, first in zip(spent, self.first_load)]
            self.cpu_left += free[0]
            self.wall_left += free[1]
        return event

    def next(self, child, cap, cpu, rows=0, whole_process=False):
        """The child's next event, within `cpu` seconds. Its clock starts anew, except where one call is a whole process."""
        cpu_most, wall_most = min(cpu, self.cpu_left), min(cpu * WALL_FACTOR, self.wall_left)
        event = child.next(cap, cpu_most, wall_most, rows)
        if whole_process and event[0] == "frame":
            return event
        child.restart_clock()
        self.near = child.cpu_spent > cpu_most * NEAR_LIMIT or child.wall_spent > wall_most * NEAR_LIMIT
        self.cpu_left -= child.cpu_spent
        self.wall_left -= child.wall_spent
        child.cpu_spent = child.wall_spent = 0.0
        return event

    def spent(self):
        # A clock that was stopped at what was left shows no less; rounding must not leave a crumb.
        return self.cpu_left < 0.01 or self.wall_left < 0.01


def do_calls(job, payload):
    """Every program makes all calls, one program after the other."""
    start = job["shared"]
    for program, size in enumerate(job["programs"]):
        call_program(job, payload, program * job["count"], start, size)
        start += size


def call_program(job, payload, row, start, size):
    bounds, stop_after = Bounds(job["limits"]), job.get("stopAfter")
    prints = job.get("prints", False)
    slow = dict(job.get("slowCalls", ()))
    total, index, abnormal, output_left = job["count"], 0, 0, bounds.output

    def prepare():
        return qf_child.read_program(payload, job["shared"], start, size)

    def say(count, answer):
        host.rows(row + index, count, answer)

    while index < total:
        first, left = index, output_left
        # A net below the supervised clock: all remaining calls may use their full time.
        cpu_net = int(min(bounds.load + bounds.cpu * (total - first) + sum(slow.values()), bounds.cpu_left)) + 2
        child = Child(prepare, lambda fd, work: qf_child.run_calls(fd, work, first, left, prints), bounds.memory, cpu_net)
        loaded = False
        try:
            while index < total:
                # Room for one row of the other kinds when the budget is spent.
                if loaded:
                    rows = 1 if bounds.cell else total - index
                    event, tag, said = bounds.next(child, output_left + 8192, slow.get(index, bounds.cpu), rows)
                else:
                    event, tag, said = bounds.next_of_load(child, output_left + 8192)
                if event == "rows":
                    host.rows_framed(row + index, said)
                    if bounds.near:
                        # Answers that came together had one clock: which of them took the time is not known.
                        host.near_limit(row + index, tag)
                    index += tag
                    output_left = max(0, output_left + 5 * tag - len(said))
                    if bounds.cell:
                        break
                    continue
                if event == "frame" and tag == b"L" and not loaded:
                    loaded = True
                    if bounds.near:
                        host.near_limit(row + index)
                    continue
                limit = qf_child.LIMITS.get(tag)
                if event == "frame" and (limit is not None or tag == b"F" and not loaded):
                    # What ends the program while it loads ends it for every call.
                    count = 1 if loaded else total - index
                    if limit is None:
                        host.rows_said(row + index, count, said)
                    else:
                        say(count, limit)
                    if bounds.near:
                        host.near_limit(row + index)
                    index += count
                    output_left = max(0, output_left - len(said))
                    abnormal += limit is not None
                    if bounds.cell or stop_after is not None and abnormal >= stop_after:
                        break
                    continue
                if event == "timeout":
                    end = child.timeout_row()
                elif event == "overflow":
                    end = {"kind": "output_limit"}
                elif event == "exit":
                    end = child.how_it_ended()
                else:
                    end = {"kind": "crash", "detail": "wrote into its result pipe"}
                count = 1 if loaded else total - index
                say(count, end)
                index += count
                abnormal += 1
                break
        finally:
            child.close()
        if index < total and stop_after is not None and abnormal >= stop_after:
            say(total - index, {"kind": "not_run"})
            index = total
        if index < total and bounds.spent():
            say(total - index, {"kind": "timeout"})
            index = total


def do_stdio(job, payload):
    bounds, total, stop_after = Bounds(job["limits"]), job["count"], job.get("stopAfter")
    abnormal, output_left = 0, bounds.output
    for index in range(total):
        if stop_after is not None and abnormal >= stop_after:
            host.rows(index, total - index, {"kind": "not_run"})
            return
        if bounds.spent():
            host.rows(index, total - index, {"kind": "timeout"})
            return
        child = Child(lambda: qf_child.read_script(payload, index), qf_child.run_stdio, bounds.memory, int(bounds.cpu) + 2, capture=True)
        report, limit, row = Scratch(), None, None
        try:
            while True:
                event, tag, said = bounds.next(child, max(output_left, MAX_REPORT), bounds.cpu, whole_process=True)
                if event != "frame":
                    break
                # The clock runs on: a frame here is the reason of a bad end, not progress.
                limit = qf_child.LIMITS.get(tag, limit)
                if tag == b"E" and 0 < len(said) <= MAX_REPORT:
                    report.drop()
                    report.add(said)
            if event == "overflow" or len(child.output) > output_left:
                row = {"kind": "output_limit"}
            elif event == "timeout":
                row = child.timeout_row()
            elif child.status == 0:
                if bounds.near:
                    host.near_limit(index)
                with child.output.view() as output:
                    host.send(b"S", struct.pack(">I", index), output)
                output_left -= len(child.output)
            elif limit is not None:
                row = limit
            elif len(report) > 0 and os.WIFEXITED(child.status):
                with report.view() as said:
                    host.rows_said(index, 1, said)
            else:
                row = child.how_it_ended()
            if row is not None:
                host.rows(index, 1, row)
                abnormal += 1
        finally:
            report.drop()
            child.close()


_judges = {}


def judge_code(source):
    """A judge's script, compiled once: half of a small job's time otherwise. Only our own scripts come here, never what they judge."""
    if source not in _judges:
        if len(_judges) >= MAX_JUDGE_SOURCES:
            _judges.clear()
        try:
            _judges[source] = compile(source, "<judge>", "exec", dont_inherit=True)
        except Exception:
            # Its child fails again, and says why.
            return source
    return _judges[source]


def do_judge(job, payload):
    seconds, code = float(job["seconds"]), judge_code(job["source"])
    child = Child(lambda: qf_child.read_job(payload), lambda fd, work: qf_child.run_judge(fd, code, work), int(job["memoryBytes"]), int(seconds) + 2)
    try:
        event, tag, said = child.next(MAX_JUDGE_OUTPUT, seconds, seconds * WALL_FACTOR)
        if event == "frame" and tag in (b"O", b"E"):
            host.send(tag, said)
        else:
            if event == "timeout":
                row = {"kind": "timeout", "detail": "no answer within %g s" % seconds}
            elif event == "overflow":
                row = {"kind": "crash", "detail": "wrote too much"}
            else:
                row = child.how_it_ended()
            host.send(b"E", json.dumps(row).encode("ascii"))
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
    # The one signal that has a handler in a fresh Python; without one the kernel lets nothing in here signal PID 1.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    qf_harden.set_dumpable(False)
    # Inherited by every process that is forked from here on.
    qf_harden.refuse_system_calls()
    gc.collect()
    gc.freeze()
    host.control({"ready": True})
    while True:
        request, payload = host.next_request()
        operation = request["op"]
        if operation == "ping":
            host.control({"pong": True})
        elif operation == "versions":
            host.control({"versions": versions()})
            host.control({"done": True})
        else:
            recycle = None
            try:
                JOBS[operation](request, payload)
            except SandboxBroken as error:
                recycle = str(error)
            host.control({"done": True, "recycle": recycle})
            host.unsent.drop()
            payload.drop()
            if recycle is not None:
                os._exit(4)


if __name__ == "__main__":
    main()
