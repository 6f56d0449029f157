import { otelTables, type BatchColumn, type TelemetryBatch } from '../../../src/contract/telemetry/index.ts';

type CellWriter = (row: number) => string;

/** The batch as lines of JSONCompactEachRow over the columns of our own table, `head` (with its comma) before each. */
export function encodeRows(batch: TelemetryBatch, columns: readonly string[], head: string): Buffer {
  const names = otelTables[batch.table].columns.map(({ name }) => name);
  const writers = columns.map((name) => {
    const column = batch.columns[names.findIndex((known) => known === name)];
    if (column === undefined) throw new TypeError(`a batch without ${name}`);
    return cellWriter(column, name === 'events' || name === 'exemplars');
  });
  let text = '';
  for (let row = 0; row < batch.rows; row += 1) {
    text += `[${head}`;
    for (const [index, write] of writers.entries()) text += index === 0 ? write(row) : `,${write(row)}`;
    text += ']\n';
  }
  return Buffer.from(text);
}

function cellWriter(column: BatchColumn, hasTimes: boolean): CellWriter {
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
      return repeated(column, hasTimes ? (value) => withStorableTimes(wellFormedJson(value)) : wellFormedJson);
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

/** Escapes of half a character, which ClickHouse refuses with the whole insert, as U+FFFD. */
function wellFormedJson(json: string): string {
  const text = json.isWellFormed() ? json : json.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replaceAll(
    /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|[^])/g,
    (escape) => (/^\\u[dD]/.test(escape) && escape.length === 6 ? String.raw`\ufffd` : escape),
  );
}

/** Items whose times lie beyond what the table can hold, which ClickHouse refuses with the whole insert, at its ends. */
function withStorableTimes(json: string): string {
  if (!/"time":"(?!19|20|21|22[0-5])/.test(json)) return json;
  const events: unknown = JSON.parse(json);
  if (!Array.isArray(events)) return json;
  for (const event of events) {
    const held: unknown = event;
    if (typeof held === 'object' && held !== null && 'time' in held) held.time = storable(String(held.time));
  }
  return JSON.stringify(events);
}

function storable(time: string): string {
  const year = Number(/^([+-]?\d+)-/.exec(time)?.[1] ?? Number.NaN);
  if (Number.isNaN(year)) return '1970-01-01T00:00:00Z';
  return year < 1900 ? '1900-01-01T00:00:00Z' : year > 2261 ? '2262-01-01T00:00:00Z' : time;
}

/** What DateTime64(9) can hold, in microseconds since the epoch. */
const earliest = BigInt(Date.UTC(1900, 0, 1)) * 1_000n;
const latest = BigInt(Date.UTC(2262, 0, 1)) * 1_000n;

/** Microseconds since the epoch as the table holds them: what lies outside is the nearest that does not. */
function storedTime(micros: bigint): string {
  const held = micros < earliest ? earliest : micros > latest ? latest : micros;
  const fraction = ((held % 1_000n) + 1_000n) % 1_000n;
  const whole = new Date(Number((held - fraction) / 1_000n)).toISOString();
  return `${whole.slice(0, -1)}${fraction.toString().padStart(3, '0')}Z`;
}
