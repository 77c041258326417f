import type { BenchmarkName } from './problem.ts';

/** A published dataset: where it stands in a data folder, where it comes from, and what its content must be. */
export interface DatasetFile {
  /** Path below a data folder, without `.gz`; either form is read. */
  path: string;
  url: string;
  /** Of the uncompressed content. */
  sha256: string;
}

/** The benchmarks that are read from files of their publishers; `mini` comes with the program. */
export type DatasetName = Exclude<BenchmarkName, 'mini'>;

/** Licences: HumanEval MIT, HumanEval+ and MBPP+ Apache-2.0, MBPP CC-BY-4.0. */
export const DATASET_FILES: Record<DatasetName, DatasetFile> = {
  humaneval: {
    path: 'humaneval/HumanEval.jsonl',
    url: 'https://raw.githubusercontent.com/openai/human-eval/master/data/HumanEval.jsonl.gz',
    sha256: '1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2',
  },
  'humaneval+': {
    path: 'humaneval/HumanEvalPlus-v0.1.10.jsonl',
    url: 'https://github.com/evalplus/humanevalplus_release/releases/download/v0.1.10/HumanEvalPlus.jsonl.gz',
    sha256: '42526ec0e7d5f3ee0b06d6ced98f8c8bae3d76519151bfb3d36f79010645bd7f',
  },
  mbpp: {
    path: 'mbpp/mbpp.jsonl',
    url: 'https://raw.githubusercontent.com/google-research/google-research/master/mbpp/mbpp.jsonl',
    sha256: '0b7004a79cd62d9ec7ecdd5a6e5f0ef1210ff00b286df3c5d5b57bf38c58e19a',
  },
  'mbpp-sanitized': {
    path: 'mbpp/sanitized-mbpp.json',
    url: 'https://raw.githubusercontent.com/google-research/google-research/master/mbpp/sanitized-mbpp.json',
    sha256: 'ca95deaa9a01ef0a6f439f88bcf0dd3db3563d22f22aad6cae04ebb9a8d8c8e9',
  },
  'mbpp+': {
    path: 'mbpp/MbppPlus-v0.2.0.jsonl',
    url: 'https://github.com/evalplus/mbppplus_release/releases/download/v0.2.0/MbppPlus.jsonl.gz',
    sha256: 'b54e762755248ca411b523c917fa9f93c07b5ff2966bf60b3917b853926a3dad',
  },
};
