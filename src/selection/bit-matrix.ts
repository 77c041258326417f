/** Bits in rows of whole 32-bit words; bits beyond `columns` are 0. */
export interface BitMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly rowWords: number;
  /** `rows` × `rowWords`; bit j of row i is bit j mod 32 of word `i · rowWords + ⌊j / 32⌋`. */
  readonly words: Uint32Array;
}

export function bitMatrix({ rows, columns }: { rows: number; columns: number }): BitMatrix {
  const rowWords = (columns + 31) >>> 5;
  return { rows, columns, rowWords, words: new Uint32Array(rows * rowWords) };
}

export function bitAt(matrix: BitMatrix, row: number, column: number): 0 | 1 {
  const word = matrix.words[row * matrix.rowWords + (column >>> 5)] ?? 0;
  return ((word >>> (column & 31)) & 1) === 1 ? 1 : 0;
}

export function setBit(matrix: BitMatrix, row: number, column: number): void {
  const at = row * matrix.rowWords + (column >>> 5);
  matrix.words[at] = (matrix.words[at] ?? 0) | (1 << (column & 31));
}

/** Every truthy cell is a pass. Rows must be of one length (`readMatrix` checks what comes from outside). */
export function packRows(rows: readonly ArrayLike<number | boolean>[]): BitMatrix {
  const packed = bitMatrix({ rows: rows.length, columns: rows[0]?.length ?? 0 });
  rows.forEach((row, i) => {
    for (let j = 0; j < packed.columns; j++) if (row[j]) setBit(packed, i, j);
  });
  return packed;
}

export function transpose(matrix: BitMatrix): BitMatrix {
  const turned = bitMatrix({ rows: matrix.columns, columns: matrix.rows });
  for (let i = 0; i < matrix.rows; i++)
    for (let at = 0; at < matrix.rowWords; at++) {
      let word = matrix.words[i * matrix.rowWords + at] ?? 0;
      while (word !== 0) {
        setBit(turned, at * 32 + 31 - Math.clz32(word & -word), i);
        word &= word - 1;
      }
    }
  return turned;
}

/** Which rows are equal. `firsts` holds the first row of each kind, in order; `kindOf` the kind of every row. */
export function distinctRows(matrix: BitMatrix): { firsts: Int32Array; kindOf: Int32Array } {
  const { rows, rowWords, words } = matrix;
  const kindOf = new Int32Array(rows);
  const firsts: number[] = [];
  // Open addressing, at most half full: no key strings, so a million columns cost 8 MB.
  let size = 16;
  while (size < 2 * rows) size *= 2;
  const table = new Int32Array(size).fill(-1);
  for (let row = 0; row < rows; row++) {
    let hash = 0;
    for (let at = row * rowWords; at < (row + 1) * rowWords; at++) {
      hash = Math.imul(hash ^ (words[at] ?? 0), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    let slot = hash & (size - 1);
    for (;;) {
      const kind = table[slot] ?? -1;
      if (kind === -1) {
        table[slot] = firsts.length;
        kindOf[row] = firsts.length;
        firsts.push(row);
        break;
      }
      if (equalRows(matrix, row, firsts[kind] ?? 0)) {
        kindOf[row] = kind;
        break;
      }
      slot = (slot + 1) & (size - 1);
    }
  }
  return { firsts: Int32Array.from(firsts), kindOf };
}

function equalRows({ rowWords, words }: BitMatrix, a: number, b: number): boolean {
  for (let at = 0; at < rowWords; at++) if (words[a * rowWords + at] !== words[b * rowWords + at]) return false;
  return true;
}
