"""Replays test sources over outputs that a sandbox recorded. The program under test is never here: a stub stands in for it.

main takes and returns JSON text.

mode "collect": {"entryPoint", "setup", "tests": [source] | "check": source, "rounds"}
    -> {"prelude", "setup", "alias", "tests": [{"source", "label", "calls": [encoded], "expected"?: encoded, "invalid"?: why, "inherent"?: why}]}
    Asserts are harmless and every call returns a placeholder, so the calls found depend on the test alone. "inherent": the test
    needs more of the program than the values it returns, which again depends on the test alone and never on the program. "expected": the
    test passes when its one call returns exactly this, fails when that returns what does not equal it, and ends as the call does when that
    returns nothing.

mode "replay": {"entryPoint", "alias", "setup", "tests": [source], "calls": [encoded], "programs": [[row]], "wanted": [[test]], "rounds"}
    -> {"results": [[result]], "needs": [[encoded]]}
    Each program meets the tests that are wanted of it, by number.
    A test that calls with arguments nobody ran yet has status "need"; its further calls are collected at once. "undecided": the test
    hands on an object of the program, or asks an iterator of it for more than was recorded.
"""

import contextlib
import io
import json
import random
import re
import signal

import qf_encoding

SECONDS = 2
WALL_SECONDS = 20
# Names that tests use without importing them, as they came from the solution's imports. Imported only where a test mentions them:
# every job is a process of its own and would pay for all of them.
MODULES = set("bisect cmath collections copy datetime decimal fractions functools heapq itertools json math numpy operator os random re statistics string sys time typing".split())
FROM = {
    "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
    "typing": "Any Callable Dict FrozenSet Generator Iterable Iterator List Mapping Optional Sequence Set Tuple Type Union",
}
WORD = re.compile(r"[A-Za-z_]\w*")


class Alarm(BaseException):
    pass


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

    def __init__(self, entry_point, alias, setup, tests, rounds):
        self.rounds = rounds
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
        self.tests, self.free = [], []
        for source in tests:
            try:
                self.tests.append((compile_test(source, self.names), None))
                self.free.append(free_names(source))
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.tests.append((None, bounded("does not compile: %s" % error)))
                self.free.append([])

    def run(self, index, memo):
        """-> (state, outcome); outcome None while collecting."""
        state = State(memo, self.rounds)
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
                # CPU time, so that a busy machine does not turn slow into wrong; the wall clock for a test that waits.
                signal.setitimer(signal.ITIMER_PROF, SECONDS, 0.5)
                signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS, 0.5)
                try:
                    in_setup = True
                    space.update((name, stub) for name in self.names)
                    exec(self.setup, space)
                    space.update((name, stub) for name in self.names)
                    in_setup = False
                    state.calls_of_setup = len(state.calls)
                    if memo is None:
                        missing = [name for name in self.free[index] if name not in space]
                        if missing:
                            state.inherent = "needs a name of the program: %s" % missing[0]
                    exec(code, space)
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
                    signal.setitimer(signal.ITIMER_REAL, 0)
        except Alarm:
            outcome = {"status": "timeout", "alarm": True}
        except Stop:
            outcome = state.outcome or {"status": "error"}
        except qf_encoding.Unrecorded:
            outcome = {"status": "undecided"}
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
    bench = Bench(job["entryPoint"], alias, setup, tests, job["rounds"])
    found = []
    for index, (source, label) in enumerate(zip(tests, labels)):
        state, outcome = bench.run(index, None)
        entry = {"source": source, "label": label, "calls": []}
        if outcome.get("alarm") and state.calls and not state.inherent:
            state.inherent = "does not end without the program's results"
        if outcome["status"] == "invalid_test":
            entry["invalid"] = outcome["exception"]
        elif alias and "check" in bench.free[index] and "check" not in bench.names:
            entry["invalid"] = "defines no function check"
        elif state.inherent:
            entry["inherent"] = bounded(state.inherent)
        elif outcome.get("alarm"):
            entry["invalid"] = "does not end within %d s" % SECONDS
        elif not state.calls:
            entry["invalid"] = outcome.get("exception", "never calls %s" % job["entryPoint"])
        else:
            entry["calls"] = list(dict.fromkeys(state.calls))
            # The one call must be the test's own, and nothing may have gone wrong on the way to it.
            own = len(state.calls) == 1 and state.calls_of_setup == 0
            expected = direct_expected(source, bench.names) if own else None
            if expected is not None:
                try:
                    entry["expected"] = qf_encoding.encode(expected[0])
                except (ValueError, RecursionError):
                    pass
        found.append(entry)
    return {"prelude": bench.prelude, "setup": setup, "alias": alias, "tests": found}


def replay(job):
    tests = job["tests"]
    bench = Bench(job["entryPoint"], job.get("alias"), job["setup"], tests, job["rounds"])
    results, needs = [], []
    for rows, wanted_tests in zip(job["programs"], job["wanted"]):
        memo = {key: row for key, row in zip(job["calls"], rows) if row is not None}
        row_results, row_needs = [], {}
        for index in wanted_tests:
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
    signal.signal(signal.SIGPROF, _ring)
    signal.signal(signal.SIGALRM, _ring)
    return json.dumps(collect(job) if job["mode"] == "collect" else replay(job))
