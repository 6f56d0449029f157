import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BatchColumn, type TelemetryBatch, decodeBatch, encodeBatch } from './batch-codec.ts';
import { columnKind } from './batch-frame.ts';
import { FrameError, frameHeader } from './read-frame.ts';
import { otelTables, tableNames, type LogicalColumn } from './schema.ts';
import { firstFrame } from '../../../test/support/otlp/first-version.ts';
import { framesRows } from '../../../test/support/otlp/rows.ts';

const text = fc.oneof(
  fc.constantFrom('', 'checkout', 'POST /api/cart', '{"service.name":"frontend"}'),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary-ascii', maxLength: 30 }),
);

function column(logical: LogicalColumn, rows: number): fc.Arbitrary<BatchColumn> {
  const kind = columnKind(logical.type);
  const exactly = { minLength: rows, maxLength: rows };
  const bytes = fc.array(fc.constantFrom(0, 1), exactly).map((values) => Uint8Array.from(values));
  const validity = logical.nullable ? fc.oneof(fc.constant(undefined), bytes) : fc.constant(undefined);
  const withValidity = <Column extends object>(data: Column, valid: Uint8Array | undefined) =>
    valid === undefined ? data : { ...data, valid };
  switch (kind) {
    case 'timestamp':
    case 'int64':
      return fc
        .tuple(
          fc.array(fc.oneof(fc.constant(0n), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })), exactly),
          validity,
        )
        .map(([values, valid]) => withValidity({ kind, values: BigInt64Array.from(values) }, valid));
    case 'float64':
      return fc
        .tuple(fc.array(fc.double(), exactly), validity)
        .map(([values, valid]) => withValidity({ kind, values: Float64Array.from(values) }, valid));
    case 'boolean':
      return bytes.map((values) => ({ kind, values }));
    default:
      return fc.array(text, exactly).map((values) => ({ kind, values }));
  }
}

const batches: fc.Arbitrary<TelemetryBatch> = fc
  .tuple(fc.constantFrom(...tableNames), fc.oneof(fc.nat(5), fc.nat(300)))
  .chain(([table, rows]) =>
    fc
      .tuple(...otelTables[table].columns.map((logical) => column(logical, rows)))
      .map((columns) => ({ table, rows, columns })),
  );

const plain = (batch: TelemetryBatch) => ({
  ...batch,
  columns: batch.columns.map((each) => ({
    kind: each.kind,
    values: [...each.values],
    valid: 'valid' in each && each.valid.includes(0) ? [...each.valid] : undefined,
  })),
});

const caught = (work: () => unknown): unknown => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('batch codec', () => {
  it('gives back what it was given', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        const frame = encodeBatch(batch);
        expect(frameHeader(frame)).toMatchObject({ table: batch.table, rows: batch.rows });
        expect(plain(decodeBatch(frame))).toEqual(plain(batch));
      }),
      { numRuns: 60 },
    );
  });

  it('reads a frame that starts anywhere in a larger buffer, and encodes the decoded one alike', () => {
    const [batch] = fc.sample(batches, { numRuns: 1, seed: 7 });
    if (batch === undefined) throw new Error('no sample');
    const frame = encodeBatch(batch);
    for (let offset = 0; offset < 9; offset += 1) {
      const larger = new Uint8Array(frame.length + 20);
      larger.set(frame, offset);
      const decoded = decodeBatch(larger.subarray(offset, offset + frame.length));
      expect(plain(decoded)).toEqual(plain(batch));
      expect(plain(decodeBatch(encodeBatch(decoded)))).toEqual(plain(batch));
    }
  });

  it('holds a repeated string once and says so', () => {
    const rows = 1000;
    const columns = otelTables.logs.columns.map((logical): BatchColumn => {
      const kind = columnKind(logical.type);
      if (kind === 'timestamp' || kind === 'int64') return { kind, values: new BigInt64Array(rows) };
      if (kind === 'string' || kind === 'json')
        return { kind, values: Array.from({ length: rows }, () => 'x'.repeat(100)) };
      throw new Error(kind);
    });
    const frame = encodeBatch({ table: 'logs', rows, columns });
    expect(frame.length).toBeLessThan(5_000);
    const body = decodeBatch(frame).columns[4];
    expect(body?.kind === 'string' ? body.dictionary?.entries : undefined).toEqual(['x'.repeat(100)]);
  });

  it('reads what the first version wrote, with nothing in the columns that it did not have', () => {
    const [spans, metrics, logs] = tableNames.map((table) => framesRows(firstFrame(table)));
    const added = { scope_attributes: '{}', schema_url: '', otlp_fields: '{}' };
    expect(spans).toMatchObject([
      { name: 'span 1', attributes: '{"a":"b"}', ...added },
      { name: 'span 2', service_name: 'shop', ...added },
    ]);
    const numbers = { as_int: null, zero_threshold: null, exemplars: '[]' };
    expect(metrics).toMatchObject([
      { name: 'level', value: 7, flags: 0n, ...added, ...numbers },
      { name: 'requests', value: 9, is_monotonic: true, ...added, ...numbers },
    ]);
    expect(logs).toMatchObject([{ body: 'hello', severity_number: 9n, ...added }]);
  });

  it('refuses a frame that lacks a column which every version wrote', () => {
    const { table, rows, columns } = decodeBatch(firstFrame('logs'));
    const first = otelTables.logs.columns.filter((column) => !('added' in column)).length;
    const cut = (count: number) => () => decodeBatch(encodeBatch({ table, rows, columns: columns.slice(0, count) }));
    expect(caught(cut(first))).toBeUndefined();
    expect(caught(cut(first - 1))).toBeInstanceOf(FrameError);
    expect(caught(() => decodeBatch(encodeBatch({ table, rows, columns: [...columns, ...columns] })))).toBeInstanceOf(
      FrameError,
    );
  });

  it('refuses any damaged frame with its own error, or reads it within its bounds', () => {
    fc.assert(
      fc.property(batches, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (batch, hits) => {
        const frame = encodeBatch(batch);
        for (const [at, value] of hits) frame[at % frame.length] = value;
        const error = caught(() => {
          const { rows, columns } = decodeBatch(frame);
          for (const each of columns) expect(each.values).toHaveLength(rows);
        });
        if (error !== undefined) expect(error).toBeInstanceOf(FrameError);
      }),
      { numRuns: 200 },
    );
  });

  it('refuses cut and foreign bytes', () => {
    const [batch] = fc.sample(batches, { numRuns: 1, seed: 3 });
    if (batch === undefined) throw new Error('no sample');
    const frame = encodeBatch(batch);
    for (let length = 0; length < frame.length; length += 7) {
      expect(caught(() => decodeBatch(frame.subarray(0, length)))).toBeInstanceOf(FrameError);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(caught(() => decodeBatch(bytes))).toBeInstanceOf(FrameError);
      }),
    );
  });
});
