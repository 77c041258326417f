import { arrayEntries } from '../entries.ts';
import type { Reader } from '../task-record.ts';
import { readMbpp } from './mbpp.ts';

/** Sanitized MBPP (google-research): one JSON array of 427 tasks with their own imports. */
export const mbppSanitized: Reader = {
  entries: arrayEntries,
  size: 427,
  read: (fields) =>
    readMbpp({
      fields,
      number: fields.wholeNumber('task_id'),
      statement: fields.text('prompt'),
      setup: fields.textList('test_imports').join('\n'),
    }),
};
