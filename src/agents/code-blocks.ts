import { tripleQuoteAfter } from '../python-syntax/scan-statement.ts';
import { unfencedCode } from './unfenced-code.ts';

export interface CodeBlock {
  /** First word after the opening fence, lower case; empty when there is none. */
  language: string;
  code: string;
  /** False when the text ended first. */
  closed: boolean;
}

const FENCE = /^([ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(`{3,}|~{3,})[ \t]*([^\n]*)$/;

const MARK = /`{3}|~{3}/;

interface OpenBlock {
  indent: number;
  mark: string;
  language: string;
  lines: string[];
  /** Opened behind a `>`, which then leads every line. */
  quoted: boolean;
}

/**
 * Fenced code blocks of a Markdown text, in order, written as models write them: `~~~`, indented fences, a missing opening fence (the text
 * before a lone first fence is a block), a missing closing one, a fence that opens inside an open block (quoted instructions, blocks in
 * blocks: the inner one counts). With `docstrings`, fences inside a triple-quoted string of the code are part of the code. Linear time.
 */
export function codeBlocks({ text, docstrings }: { text: string; docstrings: boolean }): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const before: string[] = [];
  let open: OpenBlock | undefined;
  let seen = 0;
  let quote = '';
  for (const line of text.split('\n')) {
    const [, prefix = '', mark = '', rest = ''] =
      line.length <= 2000 && MARK.test(line) ? (FENCE.exec(line) ?? []) : [];
    const info = rest.trim();
    if (open !== undefined && quote === '' && mark === '' && line.trimEnd().endsWith(open.mark)) {
      open.lines.push(line.trimEnd().slice(0, -open.mark.length));
      blocks.push(finish(open, true));
      open = undefined;
      continue;
    }
    if (mark === '' || quote !== '') {
      if (open === undefined && seen === 0) before.push(line);
      open?.lines.push(line);
      if (docstrings && open !== undefined) quote = tripleQuoteAfter(line, quote);
      continue;
    }
    seen += 1;
    if (open === undefined) {
      const inline = inlineBlock(info, mark);
      if (inline !== undefined) blocks.push(inline);
      else if (seen === 1 && info === '' && before.some((earlier) => /^(?:async )?(?:def|class) /.test(earlier)))
        blocks.push(
          finish(
            { indent: 0, mark, language: '', lines: unfencedCode(before.join('\n')).split('\n'), quoted: false },
            true,
          ),
        );
      else open = { indent: prefix.length, mark, language: languageOf(info), lines: [], quoted: prefix.includes('>') };
    } else if (info === '') {
      if (mark[0] === open.mark[0] && mark.length >= open.mark.length) {
        blocks.push(finish(open, true));
        open = undefined;
      } else open.lines.push(line);
    } else if (mark[0] === open.mark[0] && mark.length > open.mark.length) {
      open.lines.push(line);
    } else {
      // What stood open was no program: an instruction that was quoted, or a document with blocks in it.
      blocks.push(finish(open, true));
      open = { indent: prefix.length, mark, language: languageOf(info), lines: [], quoted: prefix.includes('>') };
    }
  }
  if (open !== undefined) blocks.push(finish(open, false));
  return blocks;
}

function languageOf(info: string): string {
  return /^\{?\.?([\w+#-]{1,30})/.exec(info)?.[1]?.toLowerCase() ?? '';
}

/** A block on one line: ```` ```python print(1)``` ````. */
function inlineBlock(info: string, mark: string): CodeBlock | undefined {
  if (!info.endsWith(mark)) return undefined;
  const [, language = '', code = ''] = /^(python3?|py)?[ \t]*([^\n]*)$/.exec(info.slice(0, -mark.length)) ?? [];
  return { language, code, closed: true };
}

function finish(block: OpenBlock, closed: boolean): CodeBlock {
  const lines = block.lines;
  const last = lines.at(-1);
  // Truncation may cut the closing fence itself.
  if (!closed && last !== undefined && /^[ \t]*(?:`{1,2}|~{1,2})[ \t]*$/.test(last)) lines.pop();
  const bare = block.quoted || block.indent > 0 ? lines.map((line) => unprefixed(line, block)) : lines;
  return { language: block.language, code: bare.join('\n'), closed };
}

/** A line without what stood before the opening fence: a quote mark, or as much indentation. */
function unprefixed(line: string, block: OpenBlock): string {
  if (block.quoted) return line.replace(/^[ \t]*>[ ]?/, '');
  let at = 0;
  while (at < block.indent && (line[at] === ' ' || line[at] === '\t')) at += 1;
  return line.slice(at);
}
