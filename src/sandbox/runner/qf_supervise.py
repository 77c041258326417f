"""One forked process seen from PID 1: its frames and output, its time, its end, and a clean container after it."""

import fcntl
import os
import select
import shutil
import signal
import stat
import struct
import time

import qf_harden
from qf_host import STANDSTILL_SECONDS, host
from qf_scratch import Scratch

CLEANUP_SECONDS = 5
CHUNK = 1 << 16
MAX_FD = 256
# While a program is answering it is left alone for so long at a time: its answers wait in the pipe, and no switch between processes is
# spent on each. A call's clock may begin that much late.
QUIET_SECONDS = 0.005
PIPE_BYTES = 1 << 20
F_SETPIPE_SZ = 1031
ROW_TAGS = frozenset(b"VPR")
_HEADER = struct.Struct(">BI")
DEV_NULL = os.open("/dev/null", os.O_RDWR)


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


def _schedstat(pid):
    try:
        return os.open("/proc/%d/schedstat" % pid, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _starved_seconds(schedstat):
    """How long the process was ready to run and had no processor: second figure of schedstat, nanoseconds."""
    try:
        return int(os.pread(schedstat, 100, 0).split()[1]) / 1e9
    except (OSError, ValueError, IndexError, TypeError):
        return 0.0


def _container_cpu_seconds():
    """CPU time of everything that ever ran in this container: cgroup v1, then v2; None where neither says."""
    try:
        with open("/sys/fs/cgroup/cpuacct/cpuacct.usage") as file:
            return int(file.read()) / 1e9
    except (OSError, ValueError):
        pass
    try:
        with open("/sys/fs/cgroup/cpu.stat") as file:
            return int(dict(line.split() for line in file)["usage_usec"]) / 1e6
    except (OSError, ValueError, KeyError):
        return None


def _alone(pid):
    """Whether nobody but PID 1 and this process lives in the container."""
    return not any(name.isdigit() and int(name) not in (1, pid) for name in os.listdir("/proc"))


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

    def __init__(self, prepare, run, memory_bytes, cpu_seconds, capture=False):
        """In the new process: `run(fd of the result pipe, prepare())`; what `prepare` does is not yet limited."""
        self.exited = self.status = None
        self.frames, self.output, self._taken = Scratch(), Scratch(), memoryview(b"")
        self.oom_before = _oom_kills()
        self.container_cpu, self.own_cpu = _container_cpu_seconds(), time.process_time()
        self.waited, self.cpu_at_end = None, 0.0
        result, result_end = os.pipe()
        try:
            fcntl.fcntl(result, F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            # Over the user's quota of pipe memory: the usual size only costs time.
            pass
        stdout, stdout_end = os.pipe() if capture else (None, DEV_NULL)
        born = time.monotonic()
        try:
            self.pid = os.fork()
        except OSError:
            # Nobody else is alive in here: the host is out of memory or processes, and that is no program's fault.
            os._exit(5)
        if self.pid == 0:
            self._become(prepare, run, memory_bytes, cpu_seconds, stdout_end, result_end)
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
        self.cpu_spent = self.wall_spent = 0.0
        self.schedstat = _schedstat(self.pid)
        self.poll, self.quiet_poll = select.poll(), select.poll()
        for fd in (0, self.pidfd, *self.fds):
            if fd is not None:
                self.poll.register(fd, select.POLLIN)
        for fd in (0, self.pidfd):
            if fd is not None:
                self.quiet_poll.register(fd, select.POLLIN)
        # A child whose end is not seen at once is not left alone either.
        self.answering = self.pidfd is not None
        # Not from now: on a busy machine the child may have run for long before this process got here.
        self.cpu_start, self.wall_start, self.starved_start, self.blocked_start = 0.0, born, 0.0, host.blocked

    def _become(self, prepare, run, memory_bytes, cpu_seconds, stdout, result):
        try:
            os.setsid()
            # Ignored by the supervisor only.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.dup2(DEV_NULL, 0)
            os.dup2(stdout, 1)
            os.dup2(DEV_NULL, 2)
            os.closerange(3, result)
            os.closerange(result + 1, MAX_FD)
            os.chdir("/tmp")
            job = prepare()
            qf_harden.prefer_for_oom()
            qf_harden.limit(memory_bytes, cpu_seconds)
            run(result, job)
        finally:
            os._exit(70)

    def _start_clock(self):
        self.cpu_start, self.wall_start, self.starved_start = self._cpu(), time.monotonic(), _starved_seconds(self.schedstat)
        self.blocked_start = host.blocked

    def _cpu(self):
        # Of a process that is gone the kernel's clock says zero.
        return self.cpu_at_end if self.exited else _cpu_seconds(self.pid)

    def restart_clock(self):
        """What the clock showed is added to `cpu_spent` and `wall_spent`."""
        cpu_start, wall = self.cpu_start, self.wall_seconds()
        self._start_clock()
        self.cpu_spent += max(0.0, self.cpu_start - cpu_start)
        self.wall_spent += wall

    def wall_seconds(self):
        """Since the clock was started, without the time that a busy machine kept it waiting; of that, at most two thirds are believed,
        since a program can also starve itself by children of its own. Nor does the time count in which nobody here could read its answers."""
        passed = self._passed()
        starved = max(0.0, _starved_seconds(self.schedstat) - self.starved_start)
        return passed - min(starved, passed * 2 / 3)

    def _passed(self):
        return time.monotonic() - self.wall_start - (host.blocked - self.blocked_start)

    def _who_waited(self, wall_seconds):
        """Whose doing it is that the wall clock ran out: "program" where it lay asleep by a call of its own for half of that time, as it would have
        on any machine; "machine" where it was kept from a processor. A program with other processes has starved itself; one that waits for a disk, or in any other
        sleep of the kernel's, may have chosen to."""
        passed, used = self._passed(), self._cpu() - self.cpu_start
        starved = max(0.0, _starved_seconds(self.schedstat) - self.starved_start)
        if passed - used - starved >= wall_seconds / 2 or not _alone(self.pid):
            return "program"
        return "machine" if self.container_cpu is not None else "program"

    def _children_cpu(self):
        """CPU time of all other processes that the program has had, as far as it is known."""
        now = _container_cpu_seconds()
        if now is None or self.container_cpu is None:
            return 0.0
        return now - self.container_cpu - self._cpu() - (time.process_time() - self.own_cpu)

    def _read(self, fd, cap):
        """False when more than `cap` bytes are waiting to be understood. Empties the pipe, so that what a dead child wrote is all here."""
        sink = self.fds[fd]
        while len(sink) <= cap:
            try:
                got = sink.read_from(fd, CHUNK)
            except BlockingIOError:
                return True
            if got == 0:
                self.poll.unregister(fd)
                os.close(fd)
                del self.fds[fd]
                return True
            if self.exited is None and got < CHUNK:
                return True
        return False

    def _release(self):
        size = len(self._taken)
        self._taken.release()
        self._taken = memoryview(b"")
        self.frames.skip(size)

    def _take_rows(self, cap, wanted):
        """All whole rows that are here, at most so many: ("rows", how many, their frames). None where a row does not come first."""
        self._release()
        at = count = 0
        with self.frames.view() as waiting:
            end = len(waiting)
            while count < wanted and at + 5 <= end:
                tag, size = _HEADER.unpack_from(waiting, at)
                if tag not in ROW_TAGS or size > cap or at + 5 + size > end:
                    break
                at, count, cap = at + 5 + size, count + 1, cap - size
        if count == 0:
            return None
        self._taken = self.frames.view(0, at)
        return "rows", count, self._taken

    def _take_frame(self, cap):
        self._release()
        if len(self.frames) < 5:
            return None
        header = self.frames.peek(5)
        size = int.from_bytes(header[1:], "big")
        if size > cap:
            return "overflow", b"", b""
        if len(self.frames) < 5 + size:
            return None
        self.frames.skip(5)
        self._taken = self.frames.view(0, size)
        return "frame", header[:1], self._taken

    def next(self, cap, cpu_seconds, wall_seconds, rows=0):
        """The next event: ("frame", tag, payload), ("overflow",…), ("timeout",…) or ("exit",…); a dead child's frames come before its exit.
        Where so many rows are awaited, ("rows", how many, frames) for those that are here. A payload is a view that lasts until the next call."""
        while True:
            event = self._take_rows(cap, rows) or self._take_frame(cap)
            if event is not None:
                return event
            if self.exited:
                return "exit", b"", b""
            cpu_left = cpu_seconds - (self._cpu() - self.cpu_start)
            wall_left = wall_seconds - self.wall_seconds()
            if cpu_left <= 0 or wall_left <= 0:
                # Where the machine may be to blame, the host runs the program once more, alone.
                if cpu_left - self._children_cpu() > cpu_seconds / 2:
                    self.waited = self._who_waited(wall_seconds)
                return "timeout", b"", b""
            if host.lease_left() <= 0:
                os._exit(0)
            patience = min(cpu_left, wall_left, host.lease_left(), 1.0 if self.pidfd is not None else 0.01)
            quiet = self.answering and patience > QUIET_SECONDS
            if quiet:
                patience = QUIET_SECONDS
            asked = time.monotonic()
            ready = (self.quiet_poll if quiet else self.poll).poll(max(1, patience * 1000))
            still = time.monotonic() - asked - patience
            if still > STANDSTILL_SECONDS:
                # Neither the program nor the host had that time.
                self.wall_start += still
                host.heard += still
            fds = [fd for fd, _ in ready]
            if quiet:
                fds += self.fds
            waiting = sum(map(len, self.fds.values()))
            if 0 in fds:
                host.serve_pings()
            if self.pidfd is None or self.pidfd in fds:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG)
                if pid:
                    self.exited, self.status = True, status
                    self.cpu_at_end = usage.ru_utime + usage.ru_stime
                    fds = list(self.fds)
            for fd in fds:
                # Beside what may be too much, a pipe full of rows that are not yet taken, twice.
                if fd in self.fds and not self._read(fd, cap + CHUNK + 2 * PIPE_BYTES):
                    return "overflow", b"", b""
            self.answering = self.pidfd is not None and sum(map(len, self.fds.values())) > waiting

    def timeout_row(self):
        return {"kind": "timeout"} if self.waited is None else {"kind": "timeout", "waited": self.waited}

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
        for fd in (self.pidfd, self.schedstat, *self.fds):
            if fd is not None:
                os.close(fd)
        self.fds = {}
        self._taken.release()
        self.frames.drop()
        self.output.drop()
        clean_up()
