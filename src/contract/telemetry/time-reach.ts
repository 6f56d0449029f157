import type { TimePoint, TimeReach } from './statement.ts';

/** A length of time, in milliseconds: months and years are not all of one length. */
export class Span {
  readonly least: number;
  readonly most: number;

  constructor(least: number, most = least) {
    this.least = least;
    this.most = most;
  }

  times(factor: number | undefined): Span | undefined {
    if (factor === undefined) return undefined;
    const [least, most] = factor < 0 ? [this.most, this.least] : [this.least, this.most];
    return new Span(least * factor, most * factor);
  }

  plus(other: Span | undefined): Span | undefined {
    return other && new Span(this.least + other.least, this.most + other.most);
  }
}

/** A constant moment of a statement, between two bounds in milliseconds: since 1970 in UTC, or from the moment it runs. */
export class Moment {
  static readonly now = new Moment('now', 0);
  readonly base: 'epoch' | 'now';
  readonly earliest: number;
  readonly latest: number;

  constructor(base: 'epoch' | 'now', earliest: number, latest = earliest) {
    this.base = base;
    this.earliest = earliest;
    this.latest = latest;
  }

  shifted(by: Span | undefined): Moment | undefined {
    return by && new Moment(this.base, this.earliest + by.least, this.latest + by.most);
  }

  /** Cut to the start of a unit that lasts so long at most. */
  roundedDown(by: number | undefined): Moment | undefined {
    return by === undefined ? undefined : new Moment(this.base, this.earliest - by, this.latest);
  }

  /** To whole milliseconds, outward. */
  loosened(): Moment {
    return new Moment(this.base, Math.floor(this.earliest), Math.ceil(this.latest));
  }
}

export const secondMs = 1_000;
export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** Lengths of units in UTC. */
export const calendar = {
  microsecond: new Span(0.001),
  millisecond: new Span(1),
  second: new Span(secondMs),
  minute: new Span(60 * secondMs),
  hour: new Span(hourMs),
  day: new Span(dayMs),
  week: new Span(7 * dayMs),
  month: new Span(28 * dayMs, 31 * dayMs),
  quarter: new Span(89 * dayMs, 92 * dayMs),
  year: new Span(365 * dayMs, 366 * dayMs),
} as const satisfies Readonly<Record<string, Span>>;

/** Columns that hold the time of a row, and by how many milliseconds at most each lies before it. */
export type TimeColumns = ReadonlyMap<string, number>;

const timeOnly: TimeColumns = new Map([['time', 0]]);
/** Of a span `start_time` is the same moment (./schema.ts). */
const timesOfSpans: TimeColumns = new Map([
  ['time', 0],
  ['start_time', 0],
]);

export function timeColumnsOf(table: string): TimeColumns {
  return table === 'spans' ? timesOfSpans : timeOnly;
}

/** A column, and how far before it an expression lies at most. */
export class RoundedColumn {
  /** As the statement writes it: `time`, `s.time`. */
  readonly names: readonly string[];
  readonly width: number;

  constructor(names: readonly string[], width = 0) {
    this.names = names;
    this.width = width;
  }

  roundedDown(by: number | undefined): RoundedColumn | undefined {
    return by === undefined ? undefined : new RoundedColumn(this.names, this.width + by);
  }
}

/** One of the comparisons that a condition joins with AND. */
export interface Comparison<Expression> {
  readonly left: Expression;
  readonly operator: string;
  readonly right: Expression;
  /** Only the left side is looked at as a column: of BETWEEN. */
  readonly isOneWay?: boolean;
}

/** A count of units since 1970, such as `epoch(time)`. */
export interface Counted<Expression> {
  readonly of: Expression;
  /** Milliseconds of a unit. */
  readonly scale: number;
  /** How far before the time the count lies at most, in milliseconds. */
  readonly width: number;
}

export type Side = 'start' | 'end';

/** In milliseconds, perhaps with a fraction. */
export interface Bound {
  readonly base: Moment['base'];
  readonly at: number;
}

/** How a dialect writes times, and where its bounds differ. What is not surely known is undefined. */
export interface TimeDialect<Expression> {
  comparisonsIn(condition: Expression): Iterable<Comparison<Expression>>;
  /** A column, perhaps rounded down. */
  columnOf(expression: Expression): RoundedColumn | undefined;
  countedOf(expression: Expression): Counted<Expression> | undefined;
  momentOf(expression: Expression): Moment | undefined;
  /** What a number beside such a count means. */
  countedMoment(expression: Expression, scale: number): Moment | undefined;
  /** Whether it has no type of its own, and takes that of what stands beside it. */
  isText(expression: Expression): boolean;
  /** The exclusive end where a column up to `width` before the time is `< latest`, or with `isWithin` `<= latest`. */
  endOf(latest: number, width: number, isWithin: boolean): number;
  /** Of two that both hold. Which one is tighter, the absolute or the relative, changes with the time. */
  isTighter(bound: Bound, than: Bound, side: Side): boolean;
  /** Bounds that fail it are passed over. */
  isBound?(bound: Bound): boolean;
}

const turned: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '=': '=' };

/** How far before its time a column of the item lies at most; undefined for other names. */
type WidthOf = (names: readonly string[]) => number | undefined;

/** What conditions leave of the times of one FROM item. Never too narrow. */
export class TimeBounds<Expression> {
  readonly #dialect: TimeDialect<Expression>;
  readonly #bounds: { start?: Bound; end?: Bound } = {};

  constructor(dialect: TimeDialect<Expression>) {
    this.#dialect = dialect;
  }

  narrow(condition: Expression, widthOf: WidthOf): void {
    for (const { left, operator, right, isOneWay = false } of this.#dialect.comparisonsIn(condition)) {
      if (this.#compare(left, operator, right, widthOf) || isOneWay) continue;
      this.#compare(right, turned[operator] ?? '', left, widthOf);
    }
  }

  get reach(): TimeReach {
    const start = pointOf(this.#bounds.start, Math.floor);
    const end = pointOf(this.#bounds.end, Math.ceil);
    return { ...(start && { start }), ...(end && { end }) };
  }

  /** Whether this is a time of the item beside a moment. */
  #compare(time: Expression, operator: string, other: Expression, widthOf: WidthOf): boolean {
    const dialect = this.#dialect;
    const counted = dialect.countedOf(time);
    const column = dialect.columnOf(counted === undefined ? time : counted.of);
    const before = column && widthOf(column.names);
    if (column === undefined || before === undefined) return false;
    const moment = counted === undefined ? dialect.momentOf(other) : dialect.countedMoment(other, counted.scale);
    if (moment === undefined) return false;
    const width = before + column.width;
    const { base, earliest, latest } = moment;
    // Beside a date a text is read as one: its hours are left out.
    const isDate = width >= dayMs && dialect.isText(other);
    if (/^(?:>=?|=)$/.test(operator)) {
      this.#add('start', { base, at: isDate ? Math.floor(earliest / dayMs) * dayMs : earliest });
    }
    if (/^(?:<=?|=)$/.test(operator)) {
      this.#add('end', { base, at: dialect.endOf(latest, width + (counted?.width ?? 0), operator !== '<') });
    }
    return true;
  }

  #add(side: Side, bound: Bound): void {
    if (this.#dialect.isBound?.(bound) === false) return;
    const known = this.#bounds[side];
    if (known === undefined || this.#dialect.isTighter(bound, known, side)) this.#bounds[side] = bound;
  }
}

/** Of bounds of one base. */
export function isInside(at: number, than: number, side: Side): boolean {
  return side === 'start' ? at > than : at < than;
}

function pointOf(bound: Bound | undefined, round: (ms: number) => number): TimePoint | undefined {
  if (bound === undefined) return undefined;
  const ms = round(bound.at);
  return bound.base === 'now' ? { fromNowMs: ms } : isDate(ms) ? { at: new Date(ms) } : undefined;
}

/** Whether a Date can hold it. */
export function isDate(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime());
}
