"""Replays test sources over outputs that a sandbox recorded. The program under test is never here: a stub stands in for it.

main takes and returns JSON text.

mode "collect": {"entryPoint", "setup", "tests": [source] | "check": source}
    -> {"prelude", "setup", "alias", "tests": [{"source", "label", "calls": [encoded], "invalid"?: why, "inherent"?: why}]}
    Asserts are harmless and every call returns a placeholder, so the calls found depend on the test alone. "inherent": the test
    needs more of the program than the values it returns, which again depends on the test alone and never on the program.

mode "replay": {"entryPoint", "alias", "setup", "tests": [source], "calls": [encoded], "programs": [[row]]}
    -> {"results": [[result]], "needs": [[encoded]]}
    A test that calls with arguments nobody ran yet has status "need"; its further calls are collected at once.
"""

import ast
import builtins
import contextlib
import io
import json
import random
import re
import signal

import qf_encoding

SECONDS = 2
CHARS = 200
# Names that tests use without importing them, as they came from the solution's imports. Imported only where a test mentions them:
# every job is a process of its own and would pay for all of them.
MODULES = set("bisect cmath collections copy datetime decimal fractions functools heapq itertools json math numpy operator os random re statistics string sys time typing".split())
FROM = {
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "typing": "Any Callable Dict FrozenSet Generator Iterable Iterator List Mapping Optional Sequence Set Tuple Type Union",
}
WORD = re.compile(r"[A-Za-z_]\w*")
BUILTIN_ATTRIBUTES = {name for kind in (int, float, complex, str, bytes, list, tuple, dict, set, range) for name in dir(kind)}
STANDARD_SUBCLASSES = ('{"u":["collections.OrderedDict"', '{"u":["collections.Counter"', '{"u":["collections.defaultdict"')


class Stop(BaseException):
    """Ends a test at once, whatever it catches; the state keeps the outcome."""


class Alarm(BaseException):
    pass


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


class Placeholder:
    """What a call returns while calls are collected: tolerates whatever a test does with a result."""

    def __init__(self, state):
        object.__setattr__(self, "state", state)

    def __getattr__(self, name):
        if name not in BUILTIN_ATTRIBUTES:
            self.state.inherent = self.state.inherent or "uses attribute %s of the result" % name[:60]
        return lambda *args, **kwargs: Placeholder(self.state)

    def __call__(self, *args, **kwargs):
        self.state.inherent = self.state.inherent or "calls the result"
        return self

    def __iter__(self):
        return iter(())

    def __next__(self):
        raise StopIteration

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

    __repr__ = __str__


def _passive(self, *args):
    return self


for _name in "getitem add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor neg pos abs round invert".split():
    setattr(Placeholder, "__%s__" % _name, _passive)
Placeholder.__module__ = "qf"
PLACEHOLDER = '{"o":["qf.Placeholder"'


class State:
    """One run of one test."""

    def __init__(self, memo):
        self.memo = memo
        self.collecting = memo is None
        self.calls = []
        self.inherent = None
        self.partial = False
        self.outcome = None
        self.last = None
        self.passed = []

    def call(self, args, kwargs):
        for argument in list(args) + list(kwargs.values()):
            if isinstance(argument, (list, dict, set, bytearray)):
                if any(argument is seen for seen in self.passed):
                    self.inherent = self.inherent or "passes one mutable object twice"
                self.passed.append(argument)
        try:
            key = qf_encoding.encode([list(args), kwargs], 64 << 20)
        except qf_encoding.EncodeError:
            return self.unsendable("passes an argument that cannot be sent")
        if PLACEHOLDER in key:
            self.partial = True
            return Placeholder(self)
        if '{"o":' in key or '{"g":' in key or key.count('{"u":') != sum(map(key.count, STANDARD_SUBCLASSES)):
            return self.unsendable("passes an object that cannot be sent")
        row = None if self.memo is None else self.memo.get(key)
        if row is None:
            self.calls.append(key)
            self.collecting = True
            return Placeholder(self)
        return self.replay(row)

    def unsendable(self, why):
        self.inherent = self.inherent or why
        self.calls.append(None)
        return Placeholder(self)

    def replay(self, row):
        kind = row["kind"]
        if kind == "value":
            try:
                value = qf_encoding.decode(row["value"], opaque=Returned)
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
        if isinstance(value, (list, dict, set, bytearray)) or type(value).__module__ not in ("builtins", "qf"):
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
    kind = getattr(builtins, row.get("base", ""), Exception)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = Exception
    for make in (lambda: kind(row["message"]), lambda: kind(), lambda: Exception(row["message"])):
        try:
            return make()
        except Exception:
            continue


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


def calls_entry(node, names):
    return any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in names for n in ast.walk(node))


def bare_names(node):
    """Names whose very object an argument expression hands over."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, (ast.Starred, ast.Subscript, ast.Attribute, ast.NamedExpr)):
        yield from bare_names(node.value)
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from bare_names(item)
    elif isinstance(node, ast.Dict):
        for item in node.values:
            yield from bare_names(item)


LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


class Rewriter(ast.NodeTransformer):
    """Makes asserts report both sides, and marks arguments that the test uses again after the call: `loads` has every use of a name."""

    def __init__(self, names, loads):
        self.names, self.loads, self.count, self.loops = names, loads, 0, 0

    def visit(self, node):
        loop = isinstance(node, LOOPS) or isinstance(node, ast.FunctionDef) and node.name != "check"
        self.loops += loop
        try:
            return super().visit(node)
        finally:
            self.loops -= loop

    def used_again(self, name, call):
        end = (call.end_lineno, call.end_col_offset)
        others = [n for n in self.loads.get(name.id, ()) if n is not name]
        # In a loop, or in a function that may be called again, "before" may come after.
        return any(self.loops > 0 or (n.lineno, n.col_offset) >= end for n in others)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in self.names:
            for argument in node.args + [k.value for k in node.keywords]:
                for name in list(bare_names(argument)):
                    if name.id not in self.names and self.used_again(name, node):
                        name.qf_aliased = True
        self.generic_visit(node)
        return node

    def visit_Name(self, node):
        if getattr(node, "qf_aliased", False) and isinstance(node.ctx, ast.Load):
            node.qf_aliased = False
            return ast.Call(ast.Attribute(ast.Name("__qf_state__", ast.Load()), "aliased", ast.Load()), [node], [])
        return node

    def visit_Assert(self, node):
        source = bounded(ast.unparse(ast.Assert(node.test, None)), 500)
        test = node.test
        pair = isinstance(test, ast.Compare) and len(test.ops) == 1
        swapped = pair and calls_entry(test.comparators[0], self.names) and not calls_entry(test.left, self.names)
        shown = pair and (swapped or calls_entry(test.left, self.names))
        self.generic_visit(node)
        test = node.test
        a, b, ok = ("__qf_%s%d__" % (part, self.count) for part in "abo")
        self.count += 1
        load, store = (lambda n: ast.Name(n, ast.Load())), (lambda n: ast.Name(n, ast.Store()))
        if pair:
            body = [
                ast.Assign([store(a)], test.left),
                ast.Assign([store(b)], test.comparators[0]),
                ast.Assign([store(ok)], ast.Call(load("__qf_bool__"), [ast.Compare(load(a), test.ops, [load(b)])], [])),
            ]
        else:
            body = [ast.Assign([store(ok)], ast.Call(load("__qf_bool__"), [test], []))]
        if shown:
            first, second = (b, a) if swapped else (a, b)
            sides = [ast.Tuple([load(first)], ast.Load()), ast.Tuple([load(second)], ast.Load())]
        else:
            sides = [ast.Constant(None), ast.Constant(None)]
        state = load("__qf_state__")
        verify = ast.Call(ast.Attribute(state, "verify", ast.Load()), [load(ok), ast.Constant(source)] + sides, [])
        swallow = ast.Call(ast.Attribute(state, "swallow", ast.Load()), [load("__qf_error__")], [])
        handler = ast.ExceptHandler(load("__qf_exception__"), "__qf_error__", [ast.Expr(swallow)])
        return ast.Try(body, [handler], [ast.Expr(verify)], [])


def compile_test(source, names):
    tree = ast.parse(source)
    loads = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads.setdefault(node.id, []).append(node)
    tree = ast.fix_missing_locations(Rewriter(names, loads).visit(tree))
    return compile(tree, "<test>", "exec")


def prelude(*sources):
    words = set(WORD.findall(" ".join(sources)))
    lines = ["import " + name for name in sorted(MODULES & words)]
    for module, names in FROM.items():
        lines += ["from %s import %s" % (module, name) for name in names.split() if name in words]
    if "np" in words:
        lines.append("import numpy as np")
    return "\n".join(lines)


class Bench:
    """Compiled tests of one task, ready to run over any number of memos."""

    def __init__(self, entry_point, alias, setup, tests):
        self.names = {n for n in (entry_point, alias) if n}
        self.setup_error = None
        self.setup = None
        try:
            self.setup = compile(setup, "<setup>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.setup_error = "setup does not compile: %s" % error
        self.prelude = prelude(setup, *tests)
        self.base = {}
        exec(self.prelude, self.base)
        self.tests = []
        for source in tests:
            try:
                self.tests.append((compile_test(source, self.names), None))
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.tests.append((None, bounded("does not compile: %s" % error)))

    def run(self, index, memo):
        """-> (state, outcome); outcome None while collecting."""
        state = State(memo)
        code, broken = self.tests[index]
        if broken or self.setup_error:
            return state, {"status": "invalid_test", "exception": broken or self.setup_error}
        space = dict(self.base, __name__="__test__")
        space.update(__qf_state__=state, __qf_bool__=bool, __qf_exception__=Exception)

        def stub(*args, **kwargs):
            return state.call(args, kwargs)

        outcome = {"status": "pass"}
        random.seed(0)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                signal.setitimer(signal.ITIMER_REAL, SECONDS, 0.5)
                try:
                    in_setup = True
                    space.update((name, stub) for name in self.names)
                    exec(self.setup, space)
                    space.update((name, stub) for name in self.names)
                    in_setup = False
                    exec(code, space)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
        except Alarm:
            outcome = {"status": "timeout", "alarm": True}
        except Stop:
            outcome = state.outcome or {"status": "error"}
        except Fail as failure:
            outcome = dict(failure.args[0], status="fail")
        except BaseException as error:
            row = getattr(error, "__qf_row__", None)
            if row is not None:
                outcome = {"status": "error", "exception": describe(row)}
            else:
                text = bounded("%s: %s" % (type(error).__name__, error))
                if isinstance(error, NameError):
                    state.inherent = state.inherent or "needs a name of the program: %s" % error
                status = "fail" if isinstance(error, AssertionError) else "error"
                outcome = {"status": status, "exception": text + (" (in the setup)" if in_setup else " (in the test)")}
        return state, state.outcome or outcome


def split_check(source):
    """HumanEval's check() as single asserts where it is nothing but asserts; else as one test. -> (setup, tests, labels)"""
    tree = ast.parse(source)
    checks = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check"]
    whole = (("", [source + "\ncheck(candidate)\n"], ["check(candidate)"]))
    if len(checks) != 1 or len(checks[0].args.args) != 1 or checks[0].args.args[0].arg != "candidate":
        return whole
    tests = []
    for node in checks[0].body:
        if isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, ast.Assert):
            return whole
        if isinstance(node.test, ast.Constant) and node.test.value:
            continue
        if not calls_entry(node.test, {"candidate"}):
            return whole
        tests.append(ast.unparse(node))
    rest = "\n".join(ast.unparse(n) for n in tree.body if n is not checks[0])
    return (rest, tests, tests) if tests else whole


def collect(job):
    setup, alias, tests = job.get("setup", ""), None, job.get("tests")
    labels = tests
    if "check" in job:
        alias = "candidate"
        try:
            extra, tests, labels = split_check(job["check"])
            setup += "\n" + extra
        except (SyntaxError, ValueError, RecursionError):
            tests, labels = [job["check"]], ["check(candidate)"]
    bench = Bench(job["entryPoint"], alias, setup, tests)
    found = []
    for index, (source, label) in enumerate(zip(tests, labels)):
        state, outcome = bench.run(index, None)
        entry = {"source": source, "label": label, "calls": list(dict.fromkeys(c for c in state.calls if c is not None))}
        if outcome["status"] == "invalid_test":
            entry["invalid"] = outcome["exception"]
        elif outcome.get("alarm"):
            entry["invalid"] = "does not end within %d s" % SECONDS
        elif state.inherent:
            entry["inherent"] = bounded(state.inherent)
        elif not state.calls:
            entry["invalid"] = outcome.get("exception", "never calls %s" % job["entryPoint"])
        found.append(entry)
    return {"prelude": bench.prelude, "setup": setup, "alias": alias, "tests": found}


def replay(job):
    tests = job["tests"]
    bench = Bench(job["entryPoint"], job.get("alias"), job["setup"], tests)
    results, needs = [], []
    for rows in job["programs"]:
        memo = {key: row for key, row in zip(job["calls"], rows) if row is not None}
        row_results, row_needs = [], {}
        for index in range(len(tests)):
            state, outcome = bench.run(index, memo)
            wanted = [key for key in state.calls if key is not None]
            if state.outcome is None and wanted:
                row_needs.update(dict.fromkeys(wanted))
                outcome = {"status": "need"}
            row_results.append(outcome)
        results.append(row_results)
        needs.append(list(row_needs))
    return {"results": results, "needs": needs}


def _ring(signum, frame):
    raise Alarm()


def main(text):
    job = json.loads(text)
    signal.signal(signal.SIGALRM, _ring)
    return json.dumps(collect(job) if job["mode"] == "collect" else replay(job))
