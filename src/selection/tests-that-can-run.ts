import { PYTHON_BUILTINS } from '../python-syntax/builtins.ts';
import { freeNamesIn, parsePython } from '../python-syntax/parse-python.ts';

/** Names that a test may use without importing them: the judge does that (`src/grading/judge/replay.py`). */
export const JUDGE_NAMES: ReadonlySet<string> = new Set(
  `bisect cmath collections copy datetime decimal fractions functools heapq itertools json math numpy np operator os random re statistics
  string sys time typing ChainMap Counter OrderedDict defaultdict deque namedtuple Any Callable Dict FrozenSet Generator Iterable Iterator
  List Mapping Optional Sequence Set Tuple Type Union`.split(/\s+/),
);

/**
 * The tests without those that read a name which neither the task's set-up nor any program of the pool defines: nobody can pass
 * `assert ____ == f(1)`, and a test that names things of the program costs every program a process of its own. In CodeT's pool
 * that is every tenth test.
 */
export function testsThatCanRun(input: {
  tests: readonly string[];
  setup: string;
  programs: readonly string[];
}): string[] {
  const defined = new Set([...PYTHON_BUILTINS, ...JUDGE_NAMES]);
  for (const source of [input.setup, ...input.programs])
    for (const name of parsePython(source).defines) defined.add(name);
  return input.tests.filter((test) => [...freeNamesIn(test)].every((name) => defined.has(name)));
}
