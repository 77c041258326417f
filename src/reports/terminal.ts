import { styleText } from 'node:util';
import stringWidth from 'string-width';

export interface RenderOptions {
  /** Whether to colour; see `wantsColor`. */
  color: boolean;
  /** Columns of the terminal. */
  width: number;
}

type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

/** Colour only for a terminal that has it and a user who did not refuse it (NO_COLOR, TERM=dumb, FORCE_COLOR=0: Node's own rules). */
export function wantsColor(stream: { isTTY?: boolean; hasColors?: (count: number) => boolean }): boolean {
  return stream.isTTY === true && stream.hasColors?.(16) === true;
}

export function painter(color: boolean): Paint {
  return color ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}

/** Pads by columns on the screen, not by code units. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const space = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return side === 'right' ? text + space : space + text;
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A horizontal bar of `width` columns, `share` of it filled, to an eighth of a column. */
export function bar({ share, width }: { share: number; width: number }): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  return pad('█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? ''), width);
}

/** A scale from 0 to 1 with an interval drawn on it and the value marked. */
export function intervalPicture(input: { value: number; low: number; high: number; width: number }): string {
  const column = (x: number) => Math.round(Math.min(1, Math.max(0, x)) * (input.width - 1));
  const cells: string[] = Array.from({ length: input.width }, (_, i) =>
    i >= column(input.low) && i <= column(input.high) ? '━' : '─',
  );
  cells[column(input.value)] = '●';
  return cells.join('');
}

/** To a tenth; what is not quite all or not quite nothing never reads as such. */
export function percent(share: number | null): string {
  if (share === null) return '–';
  const rounded = (share * 100).toFixed(1);
  if (rounded === '100.0' && share < 1) return '> 99.9 %';
  return rounded === '0.0' && share > 0 ? '< 0.1 %' : `${rounded} %`;
}

export function count(value: number): string {
  return value.toLocaleString('en-US');
}

export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** Micro-dollars as US$, to the cent, and to the micro-dollar below one. */
export function usd(microUsd: number): string {
  const digits = microUsd > 0 && microUsd < 10_000 ? 6 : 2;
  return `US$ ${(microUsd / 1_000_000).toFixed(digits)}`;
}

/** `999 ms`, `1.0 s`, `59.9 s`, `1 min 0 s`: rounded first, so that no unit is ever full. */
export function duration(ms: number): string {
  const whole = Math.round(ms);
  if (whole < 1000) return `${whole} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A width to lay out for, whatever the terminal claims. */
export function terminalColumns(width: number): number {
  return Number.isFinite(width) ? Math.min(200, Math.max(40, Math.floor(width))) : 80;
}

/** Within `columns` on the screen; what is cut off leaves an ellipsis. */
export function cut(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  let text = '';
  let width = 0;
  for (const char of line) {
    width += stringWidth(char);
    if (width > columns - 1) break;
    text += char;
  }
  return `${text}…`;
}
