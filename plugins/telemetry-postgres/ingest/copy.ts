import type { Connection, Submittable } from 'pg';
import {
  otelTables,
  repairedJson,
  type BatchColumn,
  type ColumnType,
  type TelemetryBatch,
} from '../../../src/contract/telemetry/index.ts';
import { indexedTexts } from '../setup/tables.ts';

const copyData = 0x64;
const copyDone = 0x63;

/** `COPY … FROM STDIN` of prepared text. Resolves when the server has taken all of it. */
export class CopyIn implements Submittable {
  readonly #statement: string;
  readonly #chunks: Iterable<string>;
  readonly #done = Promise.withResolvers<undefined>();
  #error: Error | undefined;

  constructor(statement: string, chunks: Iterable<string>) {
    this.#statement = statement;
    this.#chunks = chunks;
    this.#done.promise.catch(() => {});
  }

  get done(): Promise<undefined> {
    return this.#done.promise;
  }

  submit(connection: Connection): void {
    connection.query(this.#statement);
  }

  handleCopyInResponse({ stream }: Connection): void {
    for (const chunk of this.#chunks) stream.write(message(copyData, Buffer.from(chunk, 'utf8')));
    stream.write(message(copyDone, Buffer.alloc(0)));
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#error = error;
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.#done.resolve(undefined);
  }
}

function message(type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(type, 0);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

type Cell = (row: number) => string;

const chunkRows = 2_000;

/** Of a text that is in an index, where the server refused to hold all of it. */
const indexedBytes = 1_000;

/**
 * The rows of a batch in COPY's text format, the tenant first, then the columns of these names in their usual order. `repair` is for batches that the server refused: it
 * re-encodes JSON to a form that the server accepts, and cuts indexed values to the index's limit.
 */
export function* copyText(
  batch: TelemetryBatch,
  tenant: string,
  repair: boolean,
  names: ReadonlySet<string>,
): Generator<string> {
  const logical = otelTables[batch.table].columns;
  const cells = batch.columns.flatMap((column, index): readonly Cell[] | Cell => {
    const { name = '', type = 'string' } = logical[index] ?? {};
    if (!names.has(name)) return [];
    const isCut = repair && column.kind === 'string' && indexedTexts[batch.table].includes(name);
    return isCut ? texts(column, (value) => escaped(start(wellFormed(value)))) : cellsOf(column, type, repair);
  });
  const first = escaped(tenant);
  for (let begin = 0; begin < batch.rows; begin += chunkRows) {
    const end = Math.min(begin + chunkRows, batch.rows);
    let text = '';
    for (let row = begin; row < end; row += 1) {
      text += first;
      for (const cell of cells) text += `\t${cell(row)}`;
      text += '\n';
    }
    yield text;
  }
}

function cellsOf(column: BatchColumn, type: ColumnType, repair: boolean): Cell {
  switch (column.kind) {
    case 'timestamp': {
      const { values, valid } = column;
      return (row) => (valid !== undefined && valid[row] === 0 ? '\\N' : timestamp(values[row] ?? 0n));
    }
    case 'int64':
    case 'float64': {
      const { values, valid } = column;
      return (row) => (valid !== undefined && valid[row] === 0 ? '\\N' : String(values[row] ?? 0));
    }
    case 'boolean':
      return (row) => (column.values[row] === 1 ? 't' : 'f');
    case 'string':
      return texts(column, (value) => escaped(wellFormed(value)));
    case 'json':
      return texts(column, (value) => json(value, type, repair));
  }
}

/** Each entry of a dictionary is written once. */
function texts(
  { values, dictionary }: BatchColumn & { readonly kind: 'string' | 'json' },
  write: (value: string) => string,
): Cell {
  if (dictionary === undefined) return (row) => write(values[row] ?? '');
  const entries = dictionary.entries.map(write);
  const { codes } = dictionary;
  return (row) => entries[codes[row] ?? 0] ?? '';
}

function json(value: string, type: ColumnType, repair: boolean): string {
  const text = repair || /\\u(?:0000|d[89a-f])/i.test(value) ? repairedJson(value, type) : wellFormed(value);
  if (type !== 'int64[]' && type !== 'float64[]') return escaped(text);
  // `[1,"2"]` and `{1,"2"}` are the same list of numbers.
  return /^\s*\[[^[\]{}\\]*\]\s*$/.test(text) ? text.trim().replace('[', '{').replace(']', '}') : escaped(text);
}

/** PostgreSQL keeps neither NUL nor half a character. */
function wellFormed(value: string): string {
  const text = value.isWellFormed() ? value : value.toWellFormed();
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** As many whole characters as an index has room for. */
function start(value: string): string {
  const { read } = new TextEncoder().encodeInto(value, new Uint8Array(indexedBytes));
  return value.slice(0, read);
}

const special = /[\\\t\n\r]/;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(value: string): string {
  return special.test(value) ? value.replaceAll(/[\\\t\n\r]/g, (char) => escapes[char] ?? char) : value;
}

/** Times that JavaScript or PostgreSQL cannot write become the nearest that both can. */
function timestamp(micros: bigint): string {
  const bounded = micros < earliest ? earliest : micros > latest ? latest : micros;
  let fraction = bounded % 1_000_000n;
  let seconds = bounded / 1_000_000n;
  if (fraction < 0n) {
    fraction += 1_000_000n;
    seconds -= 1n;
  }
  const whole = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  return `${whole}.${String(fraction).padStart(6, '0')}Z`;
}

const earliest = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1_000n;
const latest = BigInt(Date.parse('9999-12-31T23:59:59Z')) * 1_000n;
