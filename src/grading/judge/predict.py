"""Decides predictions of Imagined Execution: value against the original assertion, without any program.

main: JSON [{"prediction", "comparison"}] -> JSON [bool]. `prediction` is one expression; `comparison` is an expression over
`__prediction__`. Whatever cannot be read, evaluated or compared is false.
"""

import ast
import contextlib
import io
import json
import random
import signal

PRELUDE = """
import bisect, cmath, collections, copy, datetime, decimal, fractions, functools, heapq, itertools, math, operator, random, re
import statistics, string, sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from math import inf, nan, pi
"""
SECONDS = 2
WALL_SECONDS = 20


class Alarm(BaseException):
    pass


def _ring(signum, frame):
    raise Alarm()


def expression(source):
    return compile(ast.parse(source.strip(), mode="eval"), "<prediction>", "eval")


def decide(item, base):
    random.seed(0)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            # CPU time, so that a busy machine does not turn slow into wrong; the wall clock for what waits.
            signal.setitimer(signal.ITIMER_PROF, SECONDS, 0.2)
            signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS, 0.2)
            try:
                predicted = eval(expression(item["prediction"]), dict(base))
                return bool(eval(expression(item["comparison"]), dict(base, __prediction__=predicted)))
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException:
        return False


def main(text):
    base = {}
    exec(PRELUDE, base)
    signal.signal(signal.SIGPROF, _ring)
    signal.signal(signal.SIGALRM, _ring)
    return json.dumps([decide(item, base) for item in json.loads(text)])
