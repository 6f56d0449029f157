import {
  DuckDBArrayValue,
  DuckDBArrayVector,
  DuckDBBigIntVector,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBDoubleVector,
  DuckDBListValue,
  DuckDBListVector,
  DuckDBMapValue,
  DuckDBMapVector,
  DuckDBStructValue,
  DuckDBStructVector,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimestampVector,
  DuckDBUnionValue,
  DuckDBVarCharVector,
  DuckDBVariantValue,
  DuckDBStructType,
  type DuckDBType,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';
import { cutCell, fitsCell, floatCell, type CellBudget } from '../../../src/contract/telemetry/cells.ts';
import { rfc3339 } from './time.ts';

/** A cell of the row as JSON text. */
export type CellWriter = (row: number) => string;

type ValueObject = Exclude<DuckDBValue, null | string | number | bigint | boolean>;

/** Of a nested value no more than this is written to learn its size. */
const countedBytes = 1 << 20;

/** The writer for a column: what is common goes without a look at each value's kind. */
export function cellWriter(vector: DuckDBVector, budget: CellBudget): CellWriter {
  if (vector instanceof DuckDBVarCharVector) {
    return (row) => {
      const value = vector.getItem(row);
      return value === null ? 'null' : fit(JSON.stringify(value), value, budget);
    };
  }
  if (vector instanceof DuckDBBigIntVector) {
    return (row) => {
      const value = vector.getItem(row);
      return value === null ? 'null' : `"${value}"`;
    };
  }
  if (vector instanceof DuckDBDoubleVector) {
    return (row) => {
      const value = vector.getItem(row);
      return value === null ? 'null' : floatCell(value);
    };
  }
  if (vector instanceof DuckDBTimestampVector) {
    return (row) => {
      const value = vector.getItem(row);
      return value === null ? 'null' : `"${rfc3339(value.micros, 6)}"`;
    };
  }
  const nested = isNested(vector);
  const type = vector.type;
  return (row) => {
    // A list of millions is looked at element by element, never made whole.
    const writer = new ValueWriter(nested ? Math.max(budget.maxBytes, countedBytes) : Infinity);
    const text = nested ? writer.item(vector, row) : writer.value(vector.getItem(row), type);
    return writer.incomplete ? cutCell(text, budget, true) : fit(text, text, budget);
  };
}

function isNested(vector: DuckDBVector): boolean {
  return (
    vector instanceof DuckDBListVector ||
    vector instanceof DuckDBMapVector ||
    vector instanceof DuckDBStructVector ||
    vector instanceof DuckDBArrayVector
  );
}

/** `json` as it is if it fits, else the start of `plain`. */
function fit(json: string, plain: string, budget: CellBudget): string {
  return fitsCell(json, budget) ? json : cutCell(plain, budget);
}

/** Writes one value, nested ones too, until it has written enough. */
class ValueWriter {
  readonly #limit: number;
  #written = 0;
  incomplete = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Reads lists and structs where they lie. */
  item(vector: DuckDBVector, index: number): string {
    if (vector instanceof DuckDBListVector) {
      if (vector.getItemVector(index) === null) return 'null';
      const start = vector.getEntryOffset(index);
      const child = vector.childVector;
      return this.#array(vector.getEntryLength(index), (at) => this.item(child, start + at));
    }
    if (vector instanceof DuckDBStructVector) {
      if (!vector.isItemValid(index)) return 'null';
      return this.#struct(vector.type, (entry) => this.item(vector.entryVectorAt(entry), index));
    }
    return this.value(vector.getItem(index), vector.type);
  }

  value(value: DuckDBValue, type?: DuckDBType): string {
    const text = this.#text(value, type);
    this.#written += text.length;
    return text;
  }

  #text(value: DuckDBValue, type: DuckDBType | undefined): string {
    switch (typeof value) {
      case 'string':
        return JSON.stringify(value);
      case 'number':
        return floatCell(value);
      case 'bigint':
        return `"${value}"`;
      case 'boolean':
        return value ? 'true' : 'false';
      default:
        return value === null ? 'null' : this.#valueObject(value, type);
    }
  }

  #valueObject(value: ValueObject, type: DuckDBType | undefined): string {
    if (value instanceof DuckDBMapValue) {
      const { entries } = value;
      return this.#object(entries.length, (at) => [keyText(entries[at]?.key ?? null), entries[at]?.value ?? null]);
    }
    if (value instanceof DuckDBStructValue) {
      const entries = Object.entries(value.entries);
      if (type instanceof DuckDBStructType && isUnnamed(type)) {
        return this.#array(entries.length, (at) => this.value(entries[at]?.[1] ?? null));
      }
      return this.#object(entries.length, (at) => entries[at] ?? ['', null]);
    }
    if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) {
      const { items } = value;
      return this.#array(items.length, (at) => this.value(items[at] ?? null));
    }
    if (value instanceof DuckDBUnionValue) return this.value(value.value);
    if (value instanceof DuckDBVariantValue) return this.value(value.value);
    return `"${scalarText(value)}"`;
  }

  #array(length: number, element: (at: number) => string): string {
    let text = '[';
    for (let at = 0; at < length; at += 1) {
      if (this.#full()) break;
      text += at === 0 ? element(at) : `,${element(at)}`;
    }
    return `${text}]`;
  }

  #struct(type: DuckDBStructType, entry: (at: number) => string): string {
    if (isUnnamed(type)) return this.#array(type.entryNames.length, entry);
    let text = '{';
    for (const [at, name] of type.entryNames.entries()) {
      if (this.#full()) break;
      text += `${at === 0 ? '' : ','}${JSON.stringify(name)}:${entry(at)}`;
    }
    return `${text}}`;
  }

  #object(length: number, entry: (at: number) => readonly [string, DuckDBValue]): string {
    let text = '{';
    for (let at = 0; at < length; at += 1) {
      if (this.#full()) break;
      const [key, value] = entry(at);
      this.#written += key.length;
      text += `${at === 0 ? '' : ','}${JSON.stringify(key)}:${this.value(value)}`;
    }
    return `${text}}`;
  }

  #full(): boolean {
    if (this.#written <= this.#limit) return false;
    this.incomplete = true;
    return true;
  }
}

function isUnnamed(type: DuckDBStructType): boolean {
  return type.entryNames.every((name) => name === '');
}

function keyText(key: DuckDBValue): string {
  if (typeof key === 'string') return key;
  if (key === null || typeof key !== 'object') return String(key);
  return scalarText(key);
}

/** Times, dates, decimals and the rest that has one spelling. */
function scalarText(value: ValueObject): string {
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) return rfc3339(value.micros, 6);
  if (value instanceof DuckDBTimestampNanosecondsValue) return rfc3339(value.nanos, 9);
  if (value instanceof DuckDBTimestampMillisecondsValue) return rfc3339(value.millis, 3);
  if (value instanceof DuckDBTimestampSecondsValue) return rfc3339(value.seconds, 0);
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('hex');
  if (value instanceof DuckDBDecimalValue || value instanceof DuckDBDateValue) return value.toString();
  // Intervals, UUIDs, bit strings, times of day; quotes cannot occur in them but must not break the row.
  return JSON.stringify(String(value)).slice(1, -1);
}
