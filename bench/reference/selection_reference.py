"""
Selection written a second time, straight from the formulas and in numpy, to check and to time src/selection against.

    python3 selection_reference.py golden    < cases.json   results of every method, one list entry a case
    python3 selection_reference.py time      < case.json    seconds of ACES-C and ACES-O, vectorised, duplicates collapsed

A case is {"matrix": [[0, 1, ...], ...]}; rows are programs. "golden" works on the whole matrix, test by test and pair by pair: it shares
no shortcut with the product (no collapsing, no sorting, no exponential trick).
"""

import json
import math
import sys
import time

import numpy as np

TIE = 1e-12
TAU, STEPS, RATE = 0.05, 50, 0.05
NO_SLOPE = 1e-13


def loo_auc(B, w):
    n, m = B.shape
    out = np.full(m, 0.5)
    for j in range(m):
        passed, failed = B[:, j] == 1, B[:, j] == 0
        if not passed.any() or not failed.any():
            continue
        rest = np.delete(B, j, axis=1) @ np.delete(w, j)
        gap = rest[passed][:, None] - rest[failed][None, :]
        out[j] = np.mean(np.where(gap > TIE, 1.0, np.where(gap < -TIE, 0.0, 0.5)))
    return out


def aces_c(B):
    n, m = B.shape
    auc = loo_auc(B, np.full(m, 1.0 / m))
    p = B.mean(axis=0)
    q = np.maximum(0.0, auc - 0.5) * p * (1 - p)
    return (q / q.sum() if q.sum() > 0 else np.full(m, 1.0 / m)), auc


def objective_and_gradient(B, w):
    n, m = B.shape
    L, dL = np.full(m, 0.5), np.zeros((m, m))
    for j in range(m):
        passed, failed = B[:, j] == 1, B[:, j] == 0
        if not passed.any() or not failed.any():
            continue
        rest = B @ w - w[j] * B[:, j]
        s = 1 / (1 + np.exp(-(rest[passed][:, None] - rest[failed][None, :]) / TAU))
        d = s * (1 - s) / TAU
        L[j] = s.mean()
        # dL[j, l] = mean over pairs of d_ab * (B_al - B_bl), 0 for l = j
        dL[j] = (d.sum(axis=1) @ B[passed] - d.sum(axis=0) @ B[failed]) / d.size
        dL[j, j] = 0
    return float(w @ (L - 0.5)), (L - 0.5) + w @ dL


def ascend(start, gradient_of, counts):
    theta = np.log(start + 1e-3 / counts.sum())
    first, second = np.zeros_like(theta), np.zeros_like(theta)

    def softmax():
        e = np.exp(theta - theta.max())
        return e / (counts * e).sum()

    for step in range(1, STEPS + 1):
        w = softmax()
        g = gradient_of(w)
        slope = w * (g - (counts * w * g).sum())
        slope[np.abs(slope) < NO_SLOPE] = 0.0
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        theta = theta + RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return softmax()


def aces_o(B):
    n, m = B.shape
    p = B.mean(axis=0)
    active = np.flatnonzero((p > 0) & (p < 1))
    start, auc = aces_c(B)
    if active.size == 0:
        return start, auc
    sub = B[:, active]
    w = np.zeros(m)
    w[active] = ascend(start[active], lambda v: objective_and_gradient(sub, v)[1], np.ones(active.size))
    return w, loo_auc(B, w)


def patterns(B):
    rows = [tuple(row) for row in B.astype(int).tolist()]
    return rows, {row: rows.count(row) for row in set(rows)}


def codet(B):
    rows, size = patterns(B)
    return np.array([math.sqrt(size[row]) * sum(row) for row in rows])


def mbr(B):
    rows, size = patterns(B)
    return np.array([float(size[row]) for row in rows])


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def b4(B):
    n, m = B.shape
    scores = []
    for i in range(n):
        same = (B == B[i]).all(axis=1)
        x, y = B[~same][:, B[i] == 1], B[~same][:, B[i] == 0]
        scores.append(
            log_beta(B[i].sum() + 1e3, m - B[i].sum() + 1)
            + log_beta(same.sum() + 1e3, n - same.sum() + 1)
            + log_beta(x.sum() + 1, x.size - x.sum() + 1)
            + log_beta(y.sum() + 1, y.size - y.sum() + 1e5)
        )
    return np.array(scores)


def srank(B, outputs):
    """outputs: by program and test, None where the program gave none; every program has a text of its own."""
    keys = [json.dumps(row) for row in outputs]
    ran = [any(value is not None for value in row) for row in outputs]
    clusters = sorted({key for key, ok in zip(keys, ran) if ok})
    total = sum(ran)
    rows = {key: outputs[keys.index(key)] for key in clusters}
    value = {key: keys.count(key) / total * B[keys.index(key)].mean() for key in clusters}

    def agree(a, b):
        if a == b:
            return 1.0
        return sum(u is not None and u == v for u, v in zip(rows[a], rows[b])) / len(rows[a])

    score = {a: sum(agree(a, b) * value[b] for b in clusters) for a in clusters}
    return np.array([score.get(key, 0.0) for key in keys])


def mbr_outputs(outputs):
    first = [row[0] for row in outputs]
    return np.array([0.0 if value is None else float(first.count(value)) for value in first])


def groups_of(scores):
    """Programs of equal score, best first."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    groups = []
    for at, i in enumerate(order):
        near = at > 0 and scores[order[at - 1]] - scores[i] <= TIE * max(1.0, abs(scores[i]))
        groups[-1].append(i) if near else groups.append([i])
    return [sorted(group) for group in groups]


def judged(scores, weights=None, auc=None):
    groups = groups_of(scores)
    found = {"scores": scores.tolist(), "ranking": [i for group in groups for i in group], "groups": groups}
    if weights is not None:
        found.update(weights=weights.tolist(), looAuc=auc.tolist())
    return found


def golden(case):
    B = np.array(case["matrix"], dtype=float)
    m = B.shape[1]
    c, c_auc = aces_c(B)
    o, o_auc = aces_o(B)
    uniform = np.full(m, 1.0 / m)
    w = np.array(case["point"])
    value, gradient = objective_and_gradient(B, w)
    found = {
        "aces-c": judged(B @ c, c, c_auc),
        "aces-o": judged(B @ o, o, o_auc),
        "majority": judged(B.sum(axis=1), uniform, loo_auc(B, uniform)),
        "codet": judged(codet(B)),
        "b4": judged(b4(B)),
        "surrogate": {"objective": value, "gradient": gradient.tolist()},
    }
    if "outputs" in case:
        found["srank"] = judged(srank(B, case["outputs"]))
        found["mbr-exec"] = judged(mbr_outputs(case["outputs"]))
    else:
        found["mbr-exec"] = judged(mbr(B))
    return found


def collapse(B):
    rows, row_counts = np.unique(B, axis=0, return_counts=True)
    columns, column_counts = np.unique(rows, axis=1, return_counts=True)
    p = row_counts @ columns / row_counts.sum()
    keep = (p > 0) & (p < 1)
    return columns[:, keep], row_counts.astype(float), column_counts[keep].astype(float), p[keep], B.shape[1]


def fast_aces_c(B, r, c, p, m):
    """LOO-AUC of all tests over the collapsed matrix, whole matrices at a time."""
    auc = np.empty(B.shape[1])
    total = B @ c
    for j in range(B.shape[1]):
        passed = B[:, j] == 1
        rest = total - B[:, j]
        gap = rest[passed][:, None] - rest[~passed][None, :]
        pairs = r[passed][:, None] * r[~passed][None, :]
        auc[j] = (pairs * ((gap > 0) + 0.5 * (gap == 0))).sum() / pairs.sum()
    q = np.maximum(0, auc - 0.5) * p * (1 - p)
    return q / (q * c).sum() if q.sum() > 0 else np.full(q.size, 1.0 / m)


def fast_gradient(B, r, c, w):
    L, own, pull = np.empty(w.size), np.empty(w.size), np.zeros(B.shape[0])
    total = B @ (c * w)
    for j in range(w.size):
        passed = B[:, j] == 1
        rest = total - w[j] * B[:, j]
        s = 1 / (1 + np.exp(-(rest[passed][:, None] - rest[~passed][None, :]) / TAU))
        pairs = r[passed][:, None] * r[~passed][None, :]
        pairs /= pairs.sum()
        L[j] = (pairs * s).sum()
        d = pairs * s * (1 - s) / TAU
        own[j] = d.sum()
        pull[passed] += c[j] * w[j] * d.sum(axis=1)
        pull[~passed] -= c[j] * w[j] * d.sum(axis=0)
    return (L - 0.5) + pull @ B - w * own


def timed(case):
    B = np.array(case["matrix"], dtype=float)
    begin = time.perf_counter()
    small, r, c, p, m = collapse(B)
    start = fast_aces_c(small, r, c, p, m)
    middle = time.perf_counter()
    w = ascend(start, lambda v: fast_gradient(small, r, c, v), c) if case.get("acesO", True) else start
    end = time.perf_counter()
    # ACES-O counts from the raw matrix on, like ours.
    return {"acesC": middle - begin, "acesO": end - begin, "check": float((w * c).sum())}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    answer = [golden(case) for case in given] if sys.argv[1] == "golden" else timed(given)
    json.dump(answer, sys.stdout)
