"""HumanEval as inspect_ai runs it: one chat request a sample, then the check program in its local sandbox.

`-T dataset=…` names the publisher's JSONL, plain; `-T ends=…` a file that gets a line a sample when it has been graded.
"""

import json
import re
import time

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import generate
from inspect_ai.util import sandbox

INSTRUCTION = "Write the complete Python function for the problem below.\n\n"
FENCE = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
TIMEOUT_SECONDS = 30


@scorer(metrics=[accuracy()])
def check(ends: str):
    async def score(state, target):
        found = FENCE.search(state.output.completion)
        program = "\n".join(
            [
                found.group(1) if found else state.output.completion,
                state.metadata["test"],
                f"check({state.metadata['entry_point']})",
            ]
        )
        try:
            result = await sandbox().exec(["python3", "-c", program], timeout=TIMEOUT_SECONDS)
            passed = result.success
        except TimeoutError:
            passed = False
        with open(ends, "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"at": time.time(), "passed": passed}) + "\n")
        return Score(value=CORRECT if passed else INCORRECT)

    return score


@task
def humaneval(dataset: str, limit: int, ends: str):
    with open(dataset, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:limit]
    samples = [
        Sample(
            id=row["task_id"],
            input=INSTRUCTION + row["prompt"],
            metadata={"test": row["test"], "entry_point": row["entry_point"]},
        )
        for row in rows
    ]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=check(ends), sandbox="local")
