/** One program as it was handed in, before anybody has looked whether its task exists. */
export interface Sample {
  /** As the file spells it: `HumanEval/3`, `Mbpp/2`, `2`. */
  task: string;
  /** `solution`: a whole program. `completion`: what follows the prompt. */
  form: 'solution' | 'completion';
  text: string;
  /** Where it stands, for people: `samples.jsonl:143`, `HumanEval_3/0.py`. */
  where: string;
}

export interface SampleFile {
  samples: Sample[];
  /** Remarks on what was read otherwise than a hasty reader would think, or not at all. */
  notes: string[];
}
