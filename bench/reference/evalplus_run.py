"""EvalPlus, run as its users run it, with its clock read from inside.

python evalplus_run.py humaneval|mbpp SAMPLES.jsonl WORKERS     (dataset by HUMANEVAL_OVERRIDE_PATH or MBPP_OVERRIDE_PATH)

The last line of output is JSON: "seconds" from after its ground truth is loaded to the last result, and "verdicts" by task, in the order of
the samples: [base passed, plus passed]. What calls models and loads from model hubs is left out: neither is used here, and they need much.
"""

import json
import os
import sys
import time
import types

for module, name in (("evalplus.codegen", "run_codegen"), ("datasets", "load_dataset")):
    sys.modules[module] = types.ModuleType(module)
    setattr(sys.modules[module], name, None)

from evalplus import evaluate  # noqa: E402

clock = {}
ground_truth, completed = evaluate.get_groundtruth, evaluate.as_completed


def timed_ground_truth(*args, **named):
    found = ground_truth(*args, **named)
    clock["begin"] = time.perf_counter()
    return found


def timed_completed(futures):
    yield from completed(futures)
    clock["end"] = time.perf_counter()


evaluate.get_groundtruth, evaluate.as_completed = timed_ground_truth, timed_completed


def main(dataset, samples, workers):
    result = samples.replace(".jsonl", "_eval_results.json")
    if os.path.exists(result):
        os.remove(result)
    evaluate.evaluate(dataset, samples=samples, parallel=workers)
    with open(result) as file:
        found = json.load(file)["eval"]
    verdicts = {task: [[one["base_status"] == "pass", one["plus_status"] == "pass"] for one in ones] for task, ones in found.items()}
    print("\n" + json.dumps({"seconds": clock["end"] - clock["begin"], "verdicts": verdicts}), flush=True)
    # Its thread that looks for stuck samples sleeps on for up to 20 s.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
