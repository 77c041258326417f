"""Programs that models wrote: GPT-3.5's of LLMDebugger's release, and of HumanEval the first ones of each task of CodeT's (CodeGen-16B).

python real_samples.py DATASET.jsonl[.gz] OUT.jsonl DATA_DIR humaneval|mbpp CODET_A_TASK

A task of which there is none gets its canonical solution, since EvalPlus refuses files that lack one.
"""

import gzip
import json
import re
import sys

# Where CodeT's completions go on with something else.
END = re.compile(r"\n(?=class|def|#|if|print)")


def rows(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as lines:
        return [json.loads(line) for line in lines]


def main(dataset, out, data, benchmark, codet_a_task):
    tasks = rows(dataset)
    number = lambda task_id: int(task_id.split("/")[1])
    found = {number(task["task_id"]): [] for task in tasks}
    for row in rows("%s/ldb/%s_gpt-3.5-turbo-0613_seed.jsonl.gz" % (data, benchmark)):
        if number(row["task_id"]) in found:
            found[number(row["task_id"])].append(row["solution"])
    if benchmark == "humaneval":
        for index, row in enumerate(rows("%s/codet/HumanEval_codegen16B_solutions.jsonl.gz" % data)):
            found[index] += [row["prompt"] + END.split(sample)[0] for sample in row["samples"][:codet_a_task]]
    with open(out, "w") as file:
        for task in tasks:
            solutions = found[number(task["task_id"])] or [task["prompt"] + task["canonical_solution"]]
            for solution in solutions:
                file.write(json.dumps({"task_id": task["task_id"], "solution": solution}) + "\n")


main(*sys.argv[1:5], int(sys.argv[5]))
