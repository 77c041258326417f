import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dockerStreamReader, requestFrame, runnerReader } from './frames.ts';

/** `data` cut at the given places, in any order and number. */
function cut(data: Buffer, places: number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (data.length + 1)).sort((a, b) => a - b), data.length];
  return sorted.slice(1).map((end, index) => data.subarray(sorted[index], end));
}

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));

test('runner frames come out whole, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(fc.array(bytes), fc.array(fc.nat()), (bodies, places) => {
      const data = Buffer.concat(
        bodies.map((body) => {
          const header = Buffer.alloc(5, 'R');
          header.writeUInt32BE(body.length + 1);
          return Buffer.concat([header, body]);
        }),
      );
      const seen: string[] = [];
      const reader = runnerReader(({ tag, body }) => seen.push(tag + body.toString('hex')));
      for (const chunk of cut(data, places)) reader.push(chunk);
      assert.deepEqual(
        seen,
        bodies.map((body) => `R${body.toString('hex')}`),
      );
    }),
  );
});

test("Docker's stream headers never show in the output, wherever the chunks are cut", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(1, 2), bytes)), fc.array(fc.nat()), (parts, places) => {
      const data = Buffer.concat(
        parts.map(([stream, body]) => {
          const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
          header.writeUInt32BE(body.length, 4);
          return Buffer.concat([header, body]);
        }),
      );
      const seen = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      const reader = dockerStreamReader((name, part) => {
        seen[name] = Buffer.concat([seen[name], part]);
      });
      for (const chunk of cut(data, places)) reader.push(chunk);
      const of = (wanted: number) =>
        Buffer.concat(parts.filter(([stream]) => stream === wanted).map(([, body]) => body));
      assert.deepEqual([seen.stdout, seen.stderr], [of(1), of(2)]);
    }),
  );
});

test('a request is two texts behind their lengths, in which lone surrogates survive', () => {
  const parts = (frame: Buffer) => {
    const size = frame.readUInt32BE(0);
    const payload = frame.subarray(8 + size);
    assert.equal(frame.readUInt32BE(4 + size), payload.length);
    return [frame.subarray(4, 4 + size), payload].map((part) => part.toString('utf8'));
  };
  const [request, payload] = parts(requestFrame({ op: 'ü\ud800' }, Buffer.from('payload')));
  assert.deepEqual([request, payload], ['{"op":"ü\\ud800"}', 'payload']);
  assert.deepEqual(parts(requestFrame({ op: 'ping' })), ['{"op":"ping"}', '']);
});
