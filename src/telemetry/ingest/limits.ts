/** What one record may bring. What is over is cut or dropped, and the answer says so. */
export const recordLimits = {
  /** Attributes in one set. */
  attributes: 512,
  /** UTF-8 bytes of an attribute's key. */
  keyBytes: 1024,
  /** UTF-8 bytes of a name, a message or an attribute's value. */
  valueBytes: 64 * 1024,
  /** UTF-8 bytes of a log record's body. */
  bodyBytes: 128 * 1024,
  /** Events, and links, of one span. */
  events: 1024,
  /** Exemplars of one data point, and UTF-8 bytes of them together. */
  exemplars: 256,
  exemplarBytes: 128 * 1024,
  /** Buckets, and quantiles, of one data point. */
  buckets: 4096,
  /**
   * Text of one row together; a record over it is rejected. Many rows of more than this bring DuckDB to the end of its address
   * space while it writes a checkpoint.
   */
  recordBytes: 256 * 1024,
};
export type RecordLimits = Readonly<typeof recordLimits>;

/** Nesting of arrays and maps in an attribute; no SDK goes beyond a few. */
export const deepestValue = 32;
/** A batch is closed at either. */
export const batchRows = 8192;
export const batchTextBytes = 8 * 1024 * 1024;
/** Text of all rows of a request together: a resource's attributes are stored with each of its records. */
export const requestTextBytes = 512 * 1024 * 1024;
/** Rows of a request: sixteen times what a Collector sends by default. */
export const requestRows = 131_072;

/** Work of decoding, in units of reading one field, about 60 ns: no size of a body bounds it, as messages may be empty. */
export const work = {
  /** On the event loop. */
  inline: 65_536,
  /** Of a request: 64 MiB of usual telemetry take a third of it. */
  request: 2 ** 25,
  resource: 2,
  scope: 8,
  record: 8,
  point: 20,
  /** Of a list in a record: an event, an exemplar, a quantile. */
  item: 10,
  /** A number or an id that is written as text by way of a string. */
  string: 6,
  /** Of JSON: a value, a list or an object. */
  json: 6,
} as const;

/** Of writing so many bytes. */
export function workOfBytes(bytes: number): number {
  return bytes >>> 4;
}

/** What the answer to a request warns of. */
export interface Losses {
  attributes: number;
  values: number;
  keys: number;
  bodies: number;
  events: number;
  exemplars: number;
  invalidIds: number;
  /** Span ends that cannot be. */
  ends: number;
  /** Records kept though their time is more than a day in the future, or older than the retention. */
  ahead: number;
  aged: number;
}

export function noLosses(): Losses {
  const cut = { attributes: 0, values: 0, keys: 0, bodies: 0, events: 0, exemplars: 0 };
  return { ...cut, invalidIds: 0, ends: 0, ahead: 0, aged: 0 };
}
