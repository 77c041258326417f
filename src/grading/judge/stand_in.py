"""What stands in for the program while a test runs in the judge: its recorded rows, or, while calls are collected, placeholders.

The judge runs the text of stand_in.py, rewrite_test.py and replay.py as one script.
"""

import builtins
import re
import sys
from collections import deque

import qf_encoding

CHARS = 200
# A test that makes one call so often in a row waits for another result.
SAME_CALLS = 1000
BUILTIN_ATTRIBUTES = {name for kind in (int, float, complex, str, bytes, list, tuple, dict, set, range) for name in dir(kind)}
MUTABLE = (list, dict, set, bytearray, deque)
STANDARD_SUBCLASSES = ('{"u":["collections.OrderedDict"', '{"u":["collections.Counter"', '{"u":["collections.defaultdict"')


class Stop(BaseException):
    """Ends a test at once, whatever it catches; the state keeps the outcome."""


class Fail(AssertionError):
    pass


class Returned(qf_encoding.Opaque):
    """An object that means something only inside its own program: equal to nothing, truth as recorded."""

    __slots__ = ()
    __hash__ = None

    def __bool__(self):
        if self.truth is None:
            raise TypeError("bool() of the returned object fails")
        return self.truth


class ReturnedCallable(Returned):
    """A function: what it does is known to its program only. Tests that call a result are not replayed."""

    __slots__ = ()
    __hash__ = None

    def __call__(self, *args, **kwargs):
        raise TypeError("the returned function is not here")


CALLABLE = {"function", "method", "type", "builtin_function_or_method", "functools.partial", "functools._lru_cache_wrapper"}


def opaque(type_name, text, truth):
    return (ReturnedCallable if type_name in CALLABLE else Returned)(type_name, text, truth)


class Placeholder:
    """What a call returns while calls are collected: tolerates whatever a test does with a result. `level`: calls that feed it, itself included."""

    def __init__(self, state, level):
        self.state, self.level = state, level

    def __getattr__(self, name):
        if name not in BUILTIN_ATTRIBUTES:
            self.state.inherent = self.state.inherent or "uses attribute %s of the result" % name[:60]
        return lambda *args, **kwargs: self

    def __call__(self, *args, **kwargs):
        self.state.inherent = self.state.inherent or "calls the result"
        return self

    def __iter__(self):
        return iter(())

    def __next__(self):
        raise StopIteration

    def __await__(self):
        return self
        yield

    def __eq__(self, other):
        return True

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
    __hash__ = object.__hash__

    def __bool__(self):
        return True

    def __len__(self):
        return 0

    def __int__(self):
        return 0

    __index__ = __int__

    def __float__(self):
        return 0.0

    def __complex__(self):
        return 0j

    def __str__(self):
        return ""

    def __repr__(self):
        return str(self.level)


def _passive(self, *args):
    return self


for _name in "getitem add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor neg pos abs round invert".split():
    setattr(Placeholder, "__%s__" % _name, _passive)
Placeholder.__module__ = "qf"
PLACEHOLDER = '{"o":["qf.Placeholder"'
LEVEL = re.compile(re.escape(PLACEHOLDER) + ',"([0-9]+)"')


class State:
    """One run of one test. `rounds`: how often calls with results of earlier calls can be run; a test that needs more is inherent."""

    def __init__(self, memo, rounds):
        self.memo, self.rounds = memo, rounds
        self.collecting = memo is None
        self.calls = []
        # None until the setup has come to its end.
        self.calls_of_setup = None
        self.same = 0
        self.inherent = None
        self.outcome = None
        self.last = None
        self.passed = []

    def call(self, args, kwargs):
        for argument in list(args) + list(kwargs.values()):
            if isinstance(argument, MUTABLE):
                if any(argument is seen for seen in self.passed):
                    self.inherent = self.inherent or "passes one mutable object twice"
                self.passed.append(argument)
        try:
            key = qf_encoding.encode([list(args), kwargs], 64 << 20)
        except qf_encoding.EncodeError:
            return self.unsendable("passes an argument that cannot be sent")
        if PLACEHOLDER in key:
            level = 1 + max(map(int, LEVEL.findall(key)))
            if level > self.rounds:
                self.inherent = self.inherent or "calls with results of its calls, more than %d in a row" % self.rounds
                self.stop(None)
            return Placeholder(self, level)
        if '{"o":' in key or '{"g":' in key or key.count('{"u":') != sum(map(key.count, STANDARD_SUBCLASSES)):
            return self.unsendable("passes an object that cannot be sent")
        row = None if self.memo is None else self.memo.get(key)
        if row is None:
            self.same = self.same + 1 if self.calls and self.calls[-1] == key else 0
            if self.same > SAME_CALLS:
                self.inherent = self.inherent or "makes one call again and again"
                self.stop(None)
            self.calls.append(key)
            self.collecting = True
            return Placeholder(self, 1)
        return self.replay(row)

    def unsendable(self, why):
        if self.memo is not None:
            # What cannot be sent on came from the program: its values alone do not decide this test.
            self.stop({"status": "undecided"})
        self.inherent = self.inherent or why
        self.calls.append(None)
        return Placeholder(self, 1)

    def replay(self, row):
        kind = row["kind"]
        if kind == "value":
            try:
                value = qf_encoding.decode(row["value"], opaque=opaque)
            except qf_encoding.DecodeError as error:
                self.stop({"status": "error", "exception": bounded("unreadable output: %s" % error)})
            self.last = (value,)
            return value
        if kind == "exception":
            if row["phase"] in ("compile", "import", "entry"):
                self.stop({"status": "error", "exception": describe(row)})
            error = rebuild_exception(row)
            error.__qf_row__ = row
            raise error
        if kind == "crash":
            self.stop({"status": "error", "exception": bounded("crash: %s" % row.get("detail", ""))})
        self.stop({"status": kind})

    def stop(self, outcome):
        if not self.collecting:
            self.outcome = self.outcome or outcome
        raise Stop()

    def aliased(self, value):
        if isinstance(value, MUTABLE) or type(value).__module__ not in ("builtins", "qf"):
            self.inherent = self.inherent or "uses a mutable argument again"
        return value

    def swallow(self, error):
        """Called for an exception inside an assert: while collecting, only names that the program may define matter."""
        if isinstance(error, NameError) and not hasattr(error, "__qf_row__"):
            self.inherent = self.inherent or "needs a name of the program: %s" % error
        if not self.collecting:
            raise

    def verify(self, holds, source, actual, expected):
        if self.collecting:
            return
        if holds:
            return
        if actual is None:
            actual = self.last
        raise Fail({
            "label": source,
            "actual": None if actual is None else show(actual[0]),
            "expected": None if expected is None else show(expected[0]),
        })


def rebuild_exception(row):
    """The exception as a test can catch and read it. Its class is one that the test's side has: the program's own, and what they override, stay away."""
    module, _, name = (row.get("standard") or "").rpartition(".")
    # Looked up, never imported: a test that names a class has its module.
    standard = getattr(sys.modules.get(module), name, None) if module else None
    kind = standard if is_exception(standard) else getattr(builtins, row.get("base", ""), Exception)
    if not is_exception(kind):
        kind = Exception
    try:
        args, own = qf_encoding.decode(row["details"])
    except (KeyError, TypeError, ValueError):
        args, own = (row["message"],), {}
    error = make_exception(kind, args, own) or make_exception(kind, (row["message"],), own)
    # Of a class of the program, or one that says more than its arguments, the name and the text are known.
    if error is None or type(error).__name__ != row["type"] or text_of(error) != row["message"]:
        named = type(row["type"].replace("\0", ""), (kind,), {"__str__": lambda self: row["message"]})
        error = make_exception(named, args, own) or make_exception(named, (row["message"],), own) or error
    return error or Exception(row["message"])


def is_exception(kind):
    return isinstance(kind, type) and issubclass(kind, BaseException)


def make_exception(kind, args, own):
    for make in (kind, lambda *args: kind.__new__(kind, *args)):
        try:
            error = make(*args)
            error.args = args
            error.__dict__.update(own)
            return error
        except Exception:
            continue


def text_of(error):
    try:
        return str(error)
    except Exception:
        return None


def describe(row):
    line = " (line %d)" % row["line"] if row.get("line") else ""
    message = ": " + row["message"] if row.get("message") else ""
    return bounded(row["type"] + message, CHARS) + line


def bounded(text, chars=CHARS):
    return text if len(text) <= chars else text[: chars - 3] + "..."


def show(value):
    try:
        return bounded(repr(value))
    except Exception:
        try:
            return bounded(qf_encoding.encode(value, 1 << 20))
        except Exception:
            return "<%s>" % type(value).__name__
