import { otelTables } from '../../../src/contract/telemetry/index.ts';
import type { BatchColumn, TelemetryBatch } from '../../../src/contract/telemetry/index.ts';
import { wellFormedJson, withStorableTimes } from './json-text.ts';
import { storedTime } from './stored-time.ts';

/** A cell of the row as JSON text. */
type CellWriter = (row: number) => string;

/** The batch as lines of JSONCompactEachRow over the columns of our own table, `head` (with its comma) before each. */
export function encodeRows(batch: TelemetryBatch, columns: readonly string[], head: string): Buffer {
  const names = otelTables[batch.table].columns.map(({ name }) => name);
  const writers = columns.map((name) => {
    const column = batch.columns[names.findIndex((known) => known === name)];
    if (column === undefined) throw new TypeError(`a batch without ${name}`);
    return cellWriter(column, name === 'events');
  });
  let text = '';
  for (let row = 0; row < batch.rows; row += 1) {
    text += `[${head}`;
    for (const [index, write] of writers.entries()) text += index === 0 ? write(row) : `,${write(row)}`;
    text += ']\n';
  }
  return Buffer.from(text);
}

function cellWriter(column: BatchColumn, isEvents: boolean): CellWriter {
  switch (column.kind) {
    case 'timestamp': {
      const { values, valid } = column;
      return (row) => (valid?.[row] === 0 ? 'null' : `"${storedTime(values[row] ?? 0n)}"`);
    }
    case 'int64': {
      const { values, valid } = column;
      return (row) => (valid?.[row] === 0 ? 'null' : String(values[row] ?? 0n));
    }
    case 'float64': {
      const { values, valid } = column;
      return (row) => (valid?.[row] === 0 ? 'null' : floatText(values[row] ?? 0));
    }
    case 'boolean':
      return (row) => (column.values[row] === 1 ? 'true' : 'false');
    case 'string':
      return repeated(column, (value) => JSON.stringify(value.toWellFormed()));
    case 'json':
      return repeated(column, isEvents ? (value) => withStorableTimes(wellFormedJson(value)) : wellFormedJson);
  }
}

/** Where few texts fill many rows each is converted once. */
function repeated(
  { values, dictionary }: Extract<BatchColumn, { kind: 'string' | 'json' }>,
  convert: (value: string) => string,
): CellWriter {
  if (dictionary === undefined) return (row) => convert(values[row] ?? '');
  const converted = dictionary.entries.map(convert);
  return (row) => converted[dictionary.codes[row] ?? 0] ?? '""';
}

function floatText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? '"nan"' : value > 0 ? '"inf"' : '"-inf"';
}
