import { describe, expect, it } from '@jest/globals';
import type { QueryLimits } from '../../src/contract/telemetry/index.ts';
import { cellWriter } from './cells.ts';
import { RowSerializer } from './rows.ts';
import { typeOf } from './types.ts';

const roomy: QueryLimits = { maxRows: 10_000, maxBytes: 10_000_000, maxCellBytes: 16_384, timeoutMs: 1_000 };

/** As the server sends it. */
function onTheWire(cells: readonly (Buffer | null)[]): Buffer {
  const parts = cells.map((cell) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(cell === null ? -1 : cell.length);
    return Buffer.concat([length, cell ?? Buffer.alloc(0)]);
  });
  return Buffer.concat([Buffer.from([cells.length >> 8, cells.length & 255]), ...parts]);
}

/** Every cell by way of a string, as `cells.test.ts` has it, and the limits by counting. */
function byStrings(types: readonly number[], rows: readonly (readonly (Buffer | null)[])[], limits: QueryLimits) {
  const budget = { maxBytes: limits.maxCellBytes, cutCells: 0 };
  const writers = types.map((oid) => cellWriter(typeOf(oid), budget));
  const texts: string[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (texts.length >= limits.maxRows) return { text: texts.join(','), end: { truncated: 'rows', ...cut() } };
    const before = budget.cutCells;
    const text = `[${writers.map((write, index) => write(row[index]?.toString('utf8') ?? null)).join(',')}]`;
    bytes += Buffer.byteLength(text) + (texts.length === 0 ? 0 : 1);
    if (bytes > limits.maxBytes) {
      budget.cutCells = before;
      return { text: texts.join(','), end: { truncated: 'bytes', ...cut() } };
    }
    texts.push(text);
  }
  return { text: texts.join(','), end: cut() };
  function cut() {
    return { cutCells: budget.cutCells };
  }
}

function fromTheWire(
  types: readonly number[],
  rows: readonly (readonly (Buffer | null)[])[],
  limits: QueryLimits,
  takeEvery: number,
) {
  const serializer = new RowSerializer(limits);
  serializer.describe(types.map((dataTypeID) => ({ name: 'x', dataTypeID })));
  const parts: string[] = [];
  const take = () => {
    const chunk = serializer.take();
    if (chunk !== undefined) parts.push(Buffer.from(chunk.json).toString('utf8'));
  };
  for (const [index, row] of rows.entries()) {
    // In the middle of something, as a row is in what arrived.
    const wire = onTheWire(row);
    const around = Buffer.concat([Buffer.from('"\\{'), wire, Buffer.from('"\\}')]);
    expect(serializer.add(around, 3, 3 + wire.length)).toBe(true);
    if (index % takeEvery === 0) take();
  }
  take();
  return { text: parts.join(','), end: serializer.end };
}

function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const pieces = [
  'a',
  'Z 9',
  '"',
  '\\',
  '\n',
  '\t',
  '\b',
  '\f',
  '\r',
  '\u0001',
  '\u001f',
  '\u007f',
  '/',
  'ñ',
  '\u2028',
  '😀',
  '€',
];
const numbers = ['0', '-1', '2147483647', '32767'];
const floats = ['-0', '0', '-5', '1e+300', '-1.5e-07', 'NaN', 'Infinity', '-Infinity', '0.1'];
const times = [
  '2026-03-01 12:00:00+00',
  '2026-03-01 12:00:00',
  '2026-03-01 12:00:00.1+00',
  '2026-03-01 12:00:00.123',
  '2026-03-01 12:00:00.1234+00',
  '2026-03-01 12:00:00.123456',
  '2026-03-01 12:00:00.1234567',
  '2026-03-01 12:00:00.+00',
  '2026-03-01 12:00:00+01',
  '2026-03-01 12:00:00+00 BC',
  '12026-03-01 12:00:00+00',
  'infinity',
  '-infinity',
  '2026-03-01T12:00:00',
  '2026-03-01 12:00:00+0',
  '2026-03-01 12:00:00.5 BC',
];
const jsons = ['{"a": [1, null, "ñ😀"]}', 'null', '""', `{"long": "${'x'.repeat(200)}"}`, `["${'é'.repeat(100)}"]`];

function cell(oid: number, pick: (below: number) => number): Buffer | null {
  if (pick(12) === 0) return null;
  const one = (of: readonly string[]) => Buffer.from(of[pick(of.length)] ?? '');
  switch (typeOf(oid).kind) {
    case 'number':
      return one(numbers);
    case 'float':
      return one(floats);
    case 'boolean':
      return one(['t', 'f']);
    case 'time':
      return one(times);
    case 'json':
      return one(jsons);
    case 'bytes':
      return one(['\\x', '\\x00ff']);
    default:
  }
  if (typeOf(oid).element !== undefined) return one(['{}', '{1,NULL,"a \\" b"}', '{{a},{b}}']);
  const length = pick(4) === 0 ? pick(60) : pick(6);
  const text = Array.from({ length }, () => (pick(2) === 0 ? 'plain' : (pieces[pick(pieces.length)] ?? ''))).join('');
  const bytes = Buffer.from(text);
  // A database without an encoding sends whatever was put into it.
  return pick(20) === 0 ? Buffer.concat([bytes, Buffer.from([0xe9, 0x22, 0xff])]) : bytes;
}

const oids = [25, 20, 23, 701, 16, 1184, 1114, 3802, 17, 1009, 1700, 2950, 999_999];

describe('rows from the wire', () => {
  it.each(Array.from({ length: 60 }, (_, seed) => seed))('are those that strings would make, %i', (seed) => {
    const pick = random(seed);
    const types = Array.from({ length: pick(6) }, () => oids[pick(oids.length)] ?? 25);
    const rows = Array.from({ length: 1 + pick(60) }, () => types.map((oid) => cell(oid, pick)));
    const limits = {
      ...roomy,
      maxRows: pick(3) === 0 ? pick(40) : 1_000,
      maxBytes: pick(3) === 0 ? 20 + pick(2_000) : 1_000_000,
      maxCellBytes: pick(2) === 0 ? 4 + pick(80) : 16_384,
    };
    expect(fromTheWire(types, rows, limits, 1 + pick(20))).toEqual(byStrings(types, rows, limits));
  });

  it('escape every byte as JSON does, and cut at every length alike', () => {
    const every = Buffer.from(Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code)).join('') + 'ñ€😀');
    expect(JSON.parse(fromTheWire([25], [[every]], roomy, 1).text)).toEqual([every.toString('utf8')]);
    for (let maxCellBytes = 40; maxCellBytes < 400; maxCellBytes += 1) {
      const limits = { ...roomy, maxCellBytes };
      expect(fromTheWire([25], [[every]], limits, 1)).toEqual(byStrings([25], [[every]], limits));
    }
  });

  it('keep their length where one needs all the room there is', () => {
    const rows = [16, 25, 1184, 701].map((oid) => {
      const text = { 16: 'f', 25: '\u0001'.repeat(2_000), 1184: '2026-03-01 12:00:00.1', 701: '1' }[oid] ?? '';
      return { oid, row: Array.from({ length: 300 }, (_, index) => (index % 7 === 0 ? null : Buffer.from(text))) };
    });
    for (const { oid, row } of rows) {
      const types = row.map(() => oid);
      const wide = Array.from({ length: 3 }, () => row);
      expect(fromTheWire(types, wide, roomy, 2)).toEqual(byStrings(types, wide, roomy));
    }
  });

  it('are refused where they are none of the columns', () => {
    const serializer = new RowSerializer(roomy);
    serializer.describe([{ name: 'x', dataTypeID: 25 }]);
    const wire = onTheWire([Buffer.from('four')]);
    expect(serializer.add(wire, 0, wire.length - 1)).toBe(false);
    expect(serializer.add(onTheWire([]), 0, 2)).toBe(false);
    expect(serializer.take()).toBeUndefined();
  });
});
