"""What a process gives up before it runs a program that nobody has vouched for. Linux only; no dependency but libc.

Everything here is beside Docker's own limits (no capability, no network, read-only root, pids and memory cgroup): it closes what a
same-user process could still do to the supervisor, and what old default seccomp profiles leave open (vsock and netlink sockets, io_uring).
"""

import ctypes
import os
import platform
import resource
import struct

_libc = ctypes.CDLL(None, use_errno=True)

_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2

# Numbers of the refused system calls: AUDIT_ARCH value, then the numbers, from the kernel's own tables.
_X86_64 = (0xC000003E, {
    "socket": 41, "execve": 59, "execveat": 322, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
    "pidfd_getfd": 438, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240,
    "setpriority": 141, "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
    "ioprio_set": 251,
}, 302)
_AARCH64 = (0xC00000B7, {
    "socket": 198, "execve": 221, "execveat": 281, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
    "pidfd_getfd": 438, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180,
    "setpriority": 140, "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274,
    "ioprio_set": 30,
}, 261)
_TABLES = {"x86_64": _X86_64, "aarch64": _AARCH64}


def _op(code, true, false, value):
    return struct.pack("HBBI", code, true, false, value)


def _filter(arch, numbers, prlimit):
    """Classic BPF over struct seccomp_data {nr, arch, instruction pointer, args[6]}: listed calls fail with EPERM, all else is allowed."""
    load, jump_equal, jump_at_least, leave = 0x20, 0x15, 0x35, 0x06
    allow, refuse, kill = 0x7FFF0000, 0x00050000 | 1, 0x80000000
    program = [_op(load, 0, 0, 4), _op(jump_equal, 1, 0, arch), _op(leave, 0, 0, kill), _op(load, 0, 0, 0)]
    # Numbers with this bit are the x32 table, a second door to every call.
    program += [_op(jump_at_least, 0, 1, 0x40000000), _op(leave, 0, 0, refuse)]
    for number in numbers:
        program += [_op(jump_equal, 0, 1, number), _op(leave, 0, 0, refuse)]
    # prlimit on oneself (pid 0) is getrlimit and setrlimit; on another process it could starve the supervisor.
    program += [_op(jump_equal, 0, 3, prlimit), _op(load, 0, 0, 16), _op(jump_equal, 1, 0, 0), _op(leave, 0, 0, refuse)]
    program += [_op(leave, 0, 0, allow)]
    return b"".join(program), len(program)


_known = _TABLES.get(platform.machine())
_compiled = _filter(_known[0], _known[1].values(), _known[2]) if _known else None


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def set_dumpable(dumpable):
    """A process that is not dumpable keeps /proc/<pid>/{mem,fd,environ} and ptrace shut for others of its user. Inherited over fork."""
    if _libc.prctl(_PR_SET_DUMPABLE, int(dumpable), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_DUMPABLE")


def refuse_system_calls():
    """For this process and all that it forks. False where the table for this processor is unknown or the kernel takes no filter; Docker's own profile stands either way."""
    if _compiled is None:
        return False
    code, count = _compiled
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(count, ctypes.addressof(buffer))
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0


def prefer_for_oom():
    """The kernel takes this process first when the container is out of memory. The file is closed to a process that is not dumpable."""
    set_dumpable(True)
    try:
        # Not by a file object: all that a new process touches for the first time is copied.
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        os.write(file, b"1000")
        os.close(file)
    except OSError:
        pass
    finally:
        set_dumpable(False)


def limit(memory_bytes, cpu_seconds):
    """RLIMIT_NPROC is left alone: it counts a user's processes on the whole host, so containers would starve each other; the pids cgroup bounds them."""
    def put(what, soft, hard=None):
        hard = soft if hard is None else hard
        ceiling = resource.getrlimit(what)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(what, (soft, hard))

    put(resource.RLIMIT_AS, memory_bytes)
    put(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 2)
    put(resource.RLIMIT_FSIZE, 32 << 20)
    put(resource.RLIMIT_CORE, 0)
    put(resource.RLIMIT_STACK, 8 << 20)
    put(resource.RLIMIT_NOFILE, 64)
    os.umask(0o077)
