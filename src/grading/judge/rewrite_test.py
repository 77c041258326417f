"""Test sources made fit for replay: asserts that report both sides, `check` functions split into asserts, names that only a program has."""

import ast
import builtins


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


def free_names(source):
    """Names that a source reads and nowhere binds."""
    tree = ast.parse(source)
    bound, read = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            bound.add(node.rest)
    return [name for name in sorted(read - bound) if not hasattr(builtins, name)]


def literal(node):
    """(value,) of an expression of literals; None of any other."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def direct_expected(source, names):
    """(value,) of a test that passes with it and fails with what is not equal to it: `assert f(literals) == literal`, or `is` a constant. Else None."""
    body = ast.parse(source).body
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        return None

    def is_call(node):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in names:
            return False
        return all(k.arg is not None and literal(k.value) for k in node.keywords) and all(map(literal, node.args))

    test = body[0].test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    sides = [test.left, test.comparators[0]]
    call, other = reversed(sides) if is_call(sides[1]) else sides
    expected = literal(other)
    same = isinstance(test.ops[0], ast.Is) and isinstance(other, ast.Constant) and (other.value is None or isinstance(other.value, bool))
    return expected if is_call(call) and (same or isinstance(test.ops[0], ast.Eq)) else None


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
