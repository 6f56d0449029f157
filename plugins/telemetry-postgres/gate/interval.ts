import { isNode, list, text, type Json } from '../../../src/contract/telemetry/index.ts';
import { constantNumber, exactNumber } from './names.ts';
import { namesOf, only } from './tree.ts';

/** Of an interval, in milliseconds: months and years are not all of one length. */
export interface Span {
  readonly least: number;
  readonly most: number;
}

const dayMs = 86_400_000;
const exactly = (ms: number): Span => ({ least: ms, most: ms });

const lengths: readonly (readonly [RegExp, Span])[] = [
  [/^(?:us|usecs?|microseconds?)$/, exactly(0.001)],
  [/^(?:ms|msecs?|milliseconds?)$/, exactly(1)],
  [/^(?:s|secs?|seconds?)$/, exactly(1_000)],
  [/^(?:m|mins?|minutes?)$/, exactly(60_000)],
  [/^(?:h|hrs?|hours?)$/, exactly(3_600_000)],
  [/^(?:d|days?)$/, exactly(dayMs)],
  [/^(?:w|weeks?)$/, exactly(7 * dayMs)],
  [/^(?:mons?|months?)$/, { least: 28 * dayMs, most: 31 * dayMs }],
  [/^(?:y|yrs?|years?)$/, { least: 365 * dayMs, most: 366 * dayMs }],
];

/** PostgreSQL's masks of INTERVAL '1' DAY and the like. */
const masks: Readonly<Record<number, string>> = { 8: 'day', 1024: 'hour', 2048: 'minute', 4096: 'second' };

export function scaled({ least, most }: Span, factor: number): Span {
  return factor < 0 ? { least: most * factor, most: least * factor } : { least: least * factor, most: most * factor };
}

/** Undefined for what is not a constant interval in units that everybody reads alike. */
export function intervalOf(value: Json | undefined): Span | undefined {
  const cast = only('TypeCast', value);
  if (cast !== undefined) {
    const type = cast['typeName'];
    if (!isNode(type) || type['arrayBounds'] !== undefined) return undefined;
    if (namesOf(type['names']).at(-1) !== 'interval') return undefined;
    const string = only('A_Const', cast['arg'])?.['sval'];
    if (!isNode(string)) return undefined;
    const modifiers = list(type['typmods']);
    if (modifiers.length === 0) return spanOf(text(string['sval']));
    const unit = masks[constantNumber(modifiers[0]) ?? 0];
    const amount = text(string['sval']).trim();
    if (modifiers.length > 1 || unit === undefined || !/^-?\d{1,6}$/.test(amount)) return undefined;
    return spanOf(`${amount} ${unit}`);
  }
  const product = only('A_Expr', value);
  if (product === undefined || product['kind'] !== 'AEXPR_OP' || namesOf(product['name']).at(-1) !== '*') {
    return undefined;
  }
  const times = (interval: Json | undefined, factor: Json | undefined) => {
    const span = intervalOf(interval);
    const number = exactNumber(factor);
    return span && number !== undefined && Number.isInteger(number) ? scaled(span, number) : undefined;
  };
  return times(product['lexpr'], product['rexpr']) ?? times(product['rexpr'], product['lexpr']);
}

function spanOf(written: string): Span | undefined {
  const term = /\s*([+-]?\d{1,9}(?:\.\d{1,6})?)\s*([a-z]+)\s*/gy;
  const source = written.toLowerCase();
  let total = exactly(0);
  let read = 0;
  for (const [whole, amount = '', unit = ''] of source.matchAll(term)) {
    const length = lengths.find(([pattern]) => pattern.test(unit))?.[1];
    if (length === undefined || (length.least !== length.most && amount.includes('.'))) return undefined;
    const { least, most } = scaled(length, Number(amount));
    total = { least: total.least + least, most: total.most + most };
    read += whole.length;
  }
  return read === source.length && read > 0 ? total : undefined;
}
