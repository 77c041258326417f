"""Samples of a benchmark, written by nobody: its canonical solutions, or mutants of them.

python samples.py DATASET.jsonl[.gz] OUT.jsonl MUTANTS_A_TASK SEED     0 mutants: the canonical solutions
"""

import ast
import copy
import gzip
import json
import random
import sys

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.FloorDiv, ast.FloorDiv: ast.Div, ast.Mod: ast.Add, ast.Pow: ast.Mult}


def mutate(node, choice):
    """Changes the node in place; False where there is nothing to change in it."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARE:
        node.ops[0] = COMPARE[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in BINARY:
        node.op = BINARY[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        node.value = not node.value
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value = choice([node.value + 1, node.value - 1, float(node.value), node.value + 5e-7])
    elif isinstance(node, ast.Return) and node.value is not None:
        value = node.value
        node.value = choice([
            ast.Call(ast.Name("round", ast.Load()), [value, ast.Constant(2)], []),
            ast.List([value], ast.Load()),
            ast.Constant(None),
        ])
    elif isinstance(node, ast.List) and isinstance(node.ctx, ast.Load):
        node.__class__ = ast.Tuple
    else:
        return False
    return True


def mutants(source, count, rng):
    tree = ast.parse(source)
    places = [i for i, node in enumerate(ast.walk(tree)) if mutate(copy.deepcopy(node), lambda options: options[0])]
    found = []
    for _ in range(20 * count):
        if len(found) == count or not places:
            break
        changed = copy.deepcopy(tree)
        at = rng.choice(places)
        mutate(next(node for i, node in enumerate(ast.walk(changed)) if i == at), rng.choice)
        text = ast.unparse(ast.fix_missing_locations(changed))
        if text not in found:
            found.append(text)
    return found


def main(dataset, out, count, seed):
    rng = random.Random(seed)
    opened = gzip.open(dataset, "rt") if dataset.endswith(".gz") else open(dataset)
    with opened as lines, open(out, "w") as file:
        for line in lines:
            task = json.loads(line)
            source = task["prompt"] + task["canonical_solution"]
            if count == 0:
                samples = [{"solution": source, "completion": task["canonical_solution"]}]
            else:
                samples = [{"solution": text} for text in mutants(source, count, rng)]
            for sample in samples:
                file.write(json.dumps({"task_id": task["task_id"], **sample}) + "\n")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
