import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readDatasetText } from '../problems/dataset-text.ts';
import { renderDiagnosis, renderMatrixSelection, renderPoolFigures } from '../reports/render-selection.ts';
import { selectionPicture } from '../reports/selection-picture.ts';
import { evaluatePools, type GradedPool } from '../selection/evaluate-pools.ts';
import type { MethodName, Selection } from '../selection/methods.ts';
import type { MatrixFile } from '../selection/read-matrix.ts';
import { type Row, selectPool } from '../selection/select-pool.ts';
import { passRates, reportTests } from '../selection/test-report.ts';
import { type Context, note, print, printJson, renderOptions } from './context.ts';
import { readOrThrow, readPools, rowsFor, usage, wantedMethods, wholeNumber } from './select-input.ts';
import { poolLine, runPools, type TaskPool } from './select-pools.ts';
import { sweepPools } from './select-sweep.ts';
import type { ExitCode } from './user-error.ts';

/** Of the report of tests in JSON; `weights` and `looAuc` hold every test. */
const MOST_TEST_LINES = 1000;

export interface SelectOptions {
  context: Context;
  matrix?: string;
  sweep?: string;
  benchmark?: string;
  programs?: string;
  tests?: string;
  method?: string;
  prefilter?: string;
  k: string;
  seed: string;
  limit?: string;
  task?: string[];
  grade: boolean;
  diagnose?: boolean;
  keep?: string;
  picture?: string;
  dataDir?: string;
  json?: boolean;
}

/** `select`: one matrix is ranked and explained; pools of many tasks are ranked and, where labels are known, measured. */
export async function selectCommand(options: SelectOptions): Promise<ExitCode> {
  const { context } = options;
  const wanted = wantedMethods(options.method);
  const ks = options.k.split(',').map((text) => wholeNumber(text, '--k', 1));
  const seed = wholeNumber(options.seed, '--seed', 0);
  const fromFiles = [options.benchmark, options.programs, options.tests].filter((value) => value !== undefined).length;
  const sources = [options.matrix, options.sweep, fromFiles === 0 ? undefined : 'files'];
  if (sources.filter((one) => one !== undefined).length !== 1 || (fromFiles !== 0 && fromFiles !== 3))
    throw usage('select needs either --matrix, or --sweep, or --benchmark with --programs and --tests');

  if (options.matrix !== undefined && !/\.jsonl(\.gz)?$/.test(options.matrix)) {
    const { text } = await readDatasetText(resolve(context.cwd, options.matrix));
    return selectOne({ options, file: readOrThrow(text, options.matrix), methods: wanted, ks, seed });
  }
  const keep = keeper(options);
  if (options.matrix !== undefined) {
    const pools = await readPools(resolve(context.cwd, options.matrix));
    const rows = rowsFor(
      wanted,
      options.prefilter,
      pools.map(({ file }) => file),
    );
    for (const pool of pools) keep(pool, rows, seed);
    return selectMany({ options, pools, rows, ks, seed });
  }
  if (options.diagnose === true && !options.grade)
    throw usage('--diagnose needs the labels that --no-grade leaves out');
  const rows = rowsFor(wanted, options.prefilter, 'all');
  const limit = options.limit === undefined ? undefined : wholeNumber(options.limit, '--limit', 1);
  const done = (pool: TaskPool) => keep(pool, rows, seed);
  const { sweep, task, dataDir, grade } = options;
  const pools =
    sweep === undefined
      ? await runPools(options, {
          benchmark: options.benchmark ?? '',
          programs: options.programs ?? '',
          tests: options.tests ?? '',
          limit,
          done,
        })
      : await sweepPools({ context, sweep, task, limit, grade, dataDir, done });
  return selectMany({ options, pools, rows, ks, seed });
}

/** Writes each pool as soon as it is there: what a long run had done before it was ended is not lost. The first one replaces an older file. */
function keeper({ context, keep }: SelectOptions): (pool: TaskPool, rows: Row[], seed: number) => void {
  if (keep === undefined) return () => {};
  const path = resolve(context.cwd, keep);
  let flag: 'w' | 'a' = 'w';
  return ({ taskId, file }, rows, seed) => {
    const selections = new Map(rows.map((row) => [row, selectPool(row, file, seed)]));
    writeFileSync(path, `${JSON.stringify(poolLine({ taskId, file, selections }))}\n`, { flag });
    flag = 'a';
  };
}

async function selectOne(input: {
  options: SelectOptions;
  file: MatrixFile;
  methods: MethodName[] | undefined;
  ks: number[];
  seed: number;
}): Promise<ExitCode> {
  const { options, file, ks, seed } = input;
  const { context } = options;
  const methods = rowsFor(input.methods, options.prefilter, [file]);
  const { correct } = file;
  if (options.diagnose === true && correct === undefined)
    throw usage('--diagnose needs to know which programs are right: the matrix file has no "correct"');
  const rates = passRates(file.matrix);
  const selections = new Map<Row, Selection>(methods.map((name) => [name, selectPool(name, file, seed)]));
  const measured =
    correct === undefined ? undefined : evaluatePools({ pools: [{ ...file, correct }], methods, ks, seed });
  const reports = [...selections].map(([name, selection]) => ({
    name,
    selection,
    tests: reportTests({ bits: file.matrix.bits, passRates: rates, selection }),
    figures: measured?.methods[name],
  }));
  if (options.picture !== undefined)
    await writePicture(options.picture, context, [{ name: options.matrix ?? '', file, selections }], []);
  if (options.json === true) {
    printJson(context, {
      programs: file.matrix.bits.rows,
      tests: file.matrix.bits.columns,
      methods: Object.fromEntries(
        reports.map(({ name, selection, tests, figures }) => [
          name,
          {
            ...(selection.tests && { looAuc: [...selection.tests.looAuc], weights: [...selection.tests.weights] }),
            scores: [...selection.scores],
            ranking: selection.order,
            ties: selection.groups.filter((group) => group.length > 1),
            ...(tests && { tests: tests.slice(0, MOST_TEST_LINES) }),
            ...figures,
          },
        ]),
      ),
      ...(options.diagnose === true && { diagnosis: measured?.diagnosis }),
    });
    return 0;
  }
  print(context, renderMatrixSelection({ file, reports }, renderOptions(context)));
  if (options.diagnose === true && measured !== undefined) print(context, renderDiagnosis(measured.diagnosis));
  return 0;
}

async function selectMany(input: {
  options: SelectOptions;
  pools: TaskPool[];
  rows: Row[];
  ks: number[];
  seed: number;
}): Promise<ExitCode> {
  const { options, pools, rows, ks, seed } = input;
  const { context } = options;
  const graded = pools.flatMap(({ file }): GradedPool[] =>
    file.correct === undefined ? [] : [{ ...file, correct: file.correct }],
  );
  const measured =
    graded.length === pools.length ? evaluatePools({ pools: graded, methods: rows, ks, seed }) : undefined;
  if (options.diagnose === true && measured === undefined)
    throw usage('--diagnose needs to know which programs are right: some matrix has no "correct"');
  const ranked = pools.map(({ taskId, file }) => ({
    taskId,
    file,
    selections: new Map(rows.map((name) => [name, selectPool(name, file, seed)])),
  }));
  if (options.picture !== undefined)
    await writePicture(
      options.picture,
      context,
      ranked.map(({ taskId, file, selections }) => ({ name: taskId, file, selections })),
      graded,
      { rows, seed },
    );
  const withoutTests = pools.filter(({ file }) => file.matrix.bits.columns === 0).length;
  if (options.json === true) {
    printJson(context, {
      tasks: pools.length,
      tasksWithoutTests: withoutTests,
      methods: Object.fromEntries(rows.map((name) => [name, measured?.methods[name] ?? {}])),
      ...(options.diagnose === true && { diagnosis: measured?.diagnosis }),
      ...(measured === undefined && {
        rankings: Object.fromEntries(
          ranked.map(({ taskId, selections }) => [
            taskId,
            Object.fromEntries([...selections].map(([name, { order }]) => [name, order])),
          ]),
        ),
      }),
    });
    return 0;
  }
  print(context, renderPoolFigures({ pools: pools.length, withoutTests, measured: measured?.methods, ks, ranked }));
  if (options.diagnose === true && measured !== undefined) print(context, renderDiagnosis(measured.diagnosis));
  return 0;
}

async function writePicture(
  path: string,
  context: Context,
  pools: Parameters<typeof selectionPicture>[0]['pools'],
  graded: readonly GradedPool[],
  curve?: { rows: Row[]; seed: number },
): Promise<void> {
  await writeFile(resolve(context.cwd, path), selectionPicture({ pools, graded, curve }));
  note(context, `Wrote ${path}.`);
}
