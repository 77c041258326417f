"""The candidate's side: runs in a forked process, in the candidate's power from its first line on. Nothing it sends is believed.

Frames to the supervisor: one tag byte, four bytes of length (big endian), payload.
    L  the program is loaded       F  it did not load; payload is the row of all its calls
    V  a value, encoded            P  one with what was printed, as JSON            R  an exception, as JSON
    M, X  it met the limit of memory, of output (`LIMITS`)
    O  a judge's output, JSON text         E  why a program or judge ended badly
"""

import builtins
import io
import os
import random
import sys
import types
from json import JSONEncoder, loads

import qf_encoding

PROGRAM_FILE = "<program>"
MESSAGE_CHARS = 500
DETAIL_CHARS = 2000
PRINTED_CHARS = 500
_LIBRARIES = sys.stdlib_module_names | {"numpy"}

# Taken now, so that a program that replaces json.dumps or os.write only fools itself.
_dumps = JSONEncoder(separators=(",", ":")).encode
_write = os.write
_getpid = os.getpid
_exit = os._exit

LIMITS = {b"M": {"kind": "memory_limit"}, b"X": {"kind": "output_limit"}}


def send(fd, tag, payload=b""):
    data = tag + len(payload).to_bytes(4, "big") + payload
    view = memoryview(data)
    while view:
        view = view[_write(fd, view):]


def _line(error):
    if isinstance(error, SyntaxError) and error.filename == PROGRAM_FILE:
        return error.lineno or 0
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM_FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _base(kind):
    for ancestor in type.__dict__["__mro__"].__get__(kind):
        name = type.__dict__["__name__"].__get__(ancestor)
        if getattr(builtins, name, None) is ancestor:
            return name
    return "BaseException"


def _standard(kind):
    """The nearest class that the test's side has too, as `module.name`; none where that is the builtin base."""
    for ancestor in type.__dict__["__mro__"].__get__(kind):
        module, name = type.__getattribute__(ancestor, "__module__"), type.__dict__["__name__"].__get__(ancestor)
        if module == "builtins":
            return None
        known = type(module) is str and module.partition(".")[0] in _LIBRARIES
        if known and getattr(sys.modules.get(module), name, None) is ancestor:
            return "%s.%s" % (module, name)
    return None


def _details(error):
    """Encoded [args, attributes], as far as they are short and no object of the program is among them."""
    args = tuple(tuple.__iter__(BaseException.args.__get__(error)))
    own = {name: value for name, value in BaseException.__dict__["__dict__"].__get__(error).items() if type(name) is str}
    for parts in ([args, own], [args, {}], None):
        text = None if parts is None else qf_encoding.encode(parts, 1 << 20)
        if text is None or len(text) <= DETAIL_CHARS and '{"o":' not in text:
            return text


def describe(error, phase):
    """The exception row. Every part of it may be the program's own code, so every part may fail."""
    kind = type(error)
    try:
        own = isinstance(error, SyntaxError) and error.filename == PROGRAM_FILE
        message = str.__str__(str(error.msg if own else error))[:MESSAGE_CHARS]
    except BaseException:
        message = ""
    try:
        line = _line(error)
        line = line if type(line) is int and line > 0 else 0
    except BaseException:
        line = 0
    row = {"kind": "exception", "type": str.__str__(type.__dict__["__name__"].__get__(kind))[:200], "base": _base(kind), "message": message, "line": line, "phase": phase}
    for key, find in (("standard", lambda: _standard(kind)), ("details", lambda: _details(error))):
        try:
            found = find()
        except BaseException:
            continue
        if found is not None:
            row[key] = found
    return row


class _Printed(io.RawIOBase):
    """Takes what is printed and keeps its beginning, for people and for the self-debugger."""

    def __init__(self):
        # One more than are shown, by which one sees that there was more; a character has at most four bytes.
        self.room, self.kept = 4 * PRINTED_CHARS + 1, b""

    def writable(self):
        return True

    def fileno(self):
        return 1

    def write(self, data):
        self.kept += bytes(data[: self.room - len(self.kept)])
        return len(data)


def _capture():
    """In the place of standard output, which it equals in all that a program can ask of it."""
    output = _Printed()
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(io.BufferedWriter(output), encoding="utf-8", errors="surrogateescape")
    return output, sys.stdout.flush


def _printed(capture):
    """What was printed since it was last asked for; the program may have changed anything about it."""
    if capture is None:
        return ""
    output, flush = capture
    try:
        flush()
        text, output.kept = str(output.kept, "utf-8", "replace"), b""
        return text if len(text) <= PRINTED_CHARS else text[: PRINTED_CHARS - 3] + "..."
    except BaseException:
        return ""


def _failure(error, phase, tag=b"R", printed=""):
    """(tag, payload) for an exception: a MemoryError is the limit at work."""
    if isinstance(error, MemoryError):
        error.__traceback__ = None
        return b"M", b""
    row = describe(error, phase)
    if printed:
        row["printed"] = printed
    return tag, _dumps(row).encode("ascii")


def _module(name):
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _parsed(payload, start, size):
    with payload.view(start, size) as view:
        return loads(str(view, "utf-8", "surrogatepass"))


def read_job(payload):
    """The job's payload, whose memory goes back to the system before the program begins."""
    job = _parsed(payload, 0, len(payload))
    payload.drop()
    return job


def read_program(payload, shared, start, size):
    """Of a payload that holds several programs: what they share, and this one. What the others are is gone with the payload."""
    job = _parsed(payload, 0, shared) | _parsed(payload, start, size)
    payload.drop()
    return job


def read_script(payload, index):
    """The same for a program that reads its input: standard input is a file in memory, so one that reads none of it blocks nobody."""
    job = read_job(payload)
    stdin = os.memfd_create("stdin", os.MFD_CLOEXEC)
    data = memoryview(job["inputs"][index].encode("utf-8", "surrogatepass"))
    while data:
        data = data[_write(stdin, data):]
    os.lseek(stdin, 0, os.SEEK_SET)
    os.dup2(stdin, 0)
    os.close(stdin)
    return job["source"]


def run_calls(fd, job, first, output_left, prints):
    """Loads the program once and makes the calls from `first` on; the module's state lives from call to call."""
    output = _capture() if prints else None
    source, entry_point, calls = job["source"], job["entryPoint"], job["calls"]
    job = None
    me = _getpid()
    random.seed(0)
    phase = "compile"
    try:
        code = compile(source, PROGRAM_FILE, "exec", dont_inherit=True)
        phase = "import"
        module = _module("__program__")
        sys.modules["__main__"] = module
        exec(code, module.__dict__)
        phase = "entry"
        if entry_point not in module.__dict__:
            raise NameError("name %r is not defined" % entry_point)
        function = module.__dict__[entry_point]
        if not callable(function):
            raise TypeError("%r is not callable" % entry_point)
    except BaseException as error:
        send(fd, *_failure(error, phase, b"F", _printed(output)))
        _exit(0)
    if _getpid() != me:
        _exit(0)
    send(fd, b"L")
    for index in range(first, len(calls)):
        phase = "call"
        try:
            positional, named = qf_encoding.decode_call(calls[index])
            value = function(*positional, **named)
            # A program that forks returns twice; only the process that was asked may answer.
            if _getpid() != me:
                _exit(0)
            phase = "encode"
            text = qf_encoding.encode(value, max(0, output_left))
            if prints:
                tag, row = b"P", _dumps({"value": text, "printed": _printed(output)}).encode("ascii")
            else:
                tag, row = b"V", text.encode("ascii")
        except qf_encoding.EncodeTooLarge:
            tag, row = b"X", b""
        except BaseException as error:
            if _getpid() != me:
                _exit(0)
            tag, row = _failure(error, phase, printed=_printed(output))
        value = text = positional = named = None
        output_left -= len(row)
        send(fd, tag, row)
    _exit(0)


def run_stdio(fd, source):
    """The program as a script: exit status 0 and what it printed is its answer."""
    random.seed(0)
    status, phase = 0, "compile"
    sys.argv = ["program.py"]
    sys.stdin = sys.__stdin__ = open(0, "r", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    try:
        code = compile(source, PROGRAM_FILE, "exec", dont_inherit=True)
        phase = "import"
        exec(code, _module("__main__").__dict__)
    except SystemExit as error:
        wanted = error.code
        if wanted is not None and wanted != 0:
            status = wanted & 0xFF if type(wanted) is int and wanted & 0xFF else 1
            send(fd, *_failure(error, phase, b"E"))
    except BaseException as error:
        status = 1
        send(fd, *_failure(error, phase, b"E"))
    try:
        import threading
        import atexit
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException as error:
        if status == 0:
            status = 1
            send(fd, *_failure(error, phase, b"E"))
    _exit(status)


def run_judge(fd, script, job):
    """Our own script, as text or compiled; what it reads may still be hostile, so it too may run out of anything."""
    random.seed(0)
    try:
        module = _module("judge")
        exec(script, module.__dict__)
        output = module.__dict__["main"](job["input"])
        if type(output) is not str:
            raise TypeError("main must return a str")
        # As JSON text, the one form in which a lone surrogate reaches JavaScript unharmed.
        send(fd, b"O", _dumps(output).encode("ascii"))
    except BaseException as error:
        if isinstance(error, MemoryError):
            send(fd, b"E", _dumps(LIMITS[b"M"]).encode("ascii"))
        else:
            import traceback
            trace = "".join(traceback.format_exception(error, limit=-6))[-2000:]
            send(fd, b"E", _dumps({"kind": "exception", "detail": trace}).encode("ascii"))
    _exit(0)
