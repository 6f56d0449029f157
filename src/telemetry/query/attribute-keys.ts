import type { OrganizationId } from '../../contract/core/index.ts';
import type { Dialect, LogicalTable, ReadRules } from '../../contract/telemetry/index.ts';
import { attributeAdvice, own, type ServiceAnswer } from './catalog.ts';
import { readableTable } from './governance.ts';
import { likeMatcher } from './service-command.ts';

/**
 * Rows of a table that are looked at, in slices spread over the window so that one busy second does not stand for all. A gate
 * counts each slice nine times, and a statement may read 64 tables.
 */
const slices = 5;
const rowsPerSlice = 2_000;
const valuesPerKey = 5;
const mostPairs = 5000;
const hour = 3_600_000;
const keepMs = 60_000;
const mostKept = 64;

export interface SampleWindow {
  readonly start?: Date;
  readonly end?: Date;
}

/** One row of what `sampleSql` selects. */
type Pair = readonly [map: string, key: string, value: string | null, distinct: string | number, rows: string | number];

export interface AttributeKey {
  readonly map: string;
  readonly key: string;
  readonly values: readonly (string | null)[];
  readonly distinct: number;
  readonly rows: number;
}

export interface AttributeSample {
  readonly keys: readonly AttributeKey[];
  readonly window: SampleWindow;
}

export interface AttributeQuestion {
  readonly organizationId: OrganizationId;
  readonly table: LogicalTable;
  readonly like: string | undefined;
  readonly window: SampleWindow;
  /** What this caller may not read as it is; the sampling runs under them. */
  readonly rules: ReadRules | undefined;
}

/** Runs SQL through the whole pipeline and answers its rows. */
export type RunSample = (sql: string, window: SampleWindow) => Promise<readonly (readonly unknown[])[]>;

/** Answers `SHOW ATTRIBUTES` from a bounded sample, kept for a minute an organization, table, window and rules. */
export class AttributeKeys {
  readonly #dialect: Dialect;
  readonly #now: () => Date;
  readonly #kept = new Map<string, { readonly sample: AttributeSample; readonly until: number }>();

  constructor(dialect: Dialect, now: () => Date) {
    this.#dialect = dialect;
    this.#now = now;
  }

  async answer(
    { organizationId, table, like, window, rules }: AttributeQuestion,
    run: RunSample,
  ): Promise<ServiceAnswer> {
    const key = [organizationId, table.name, window.start?.getTime(), window.end?.getTime(), rules?.key].join(' ');
    const now = this.#now().getTime();
    let sample = this.#find(key, now);
    if (sample === undefined) {
      sample = await this.#sample(readableTable(table, rules), window, run);
      this.#keep(key, sample, now);
    }
    return this.#show(table, sample, like);
  }

  #find(key: string, now: number): AttributeSample | undefined {
    const kept = this.#kept.get(key);
    return kept !== undefined && kept.until > now ? kept.sample : undefined;
  }

  #keep(key: string, sample: AttributeSample, now: number): void {
    this.#kept.delete(key);
    this.#kept.set(key, { sample, until: now + keepMs });
    for (const [oldest, { until }] of this.#kept) {
      if (this.#kept.size <= mostKept && until > now) break;
      this.#kept.delete(oldest);
    }
  }

  /** Where the caller says no start: the last hour, else the last day, else the last month, before the end if there is one. */
  async #sample(table: LogicalTable, asked: SampleWindow, run: RunSample): Promise<AttributeSample> {
    if (!table.columns.some(({ type }) => type === 'map')) return { keys: [], window: asked };
    const end = Math.min(asked.end?.getTime() ?? Infinity, this.#now().getTime());
    const windows: SampleWindow[] =
      asked.start === undefined
        ? [1, 24, 720].map((hours) => ({ start: new Date(Math.max(0, end - hours * hour)), end: new Date(end) }))
        : [asked];
    for (const window of windows) {
      const rows = await run(sampleSql(this.#dialect, table, window), window);
      if (rows.length > 0 || window === windows.at(-1)) return { keys: groupPairs(rows), window };
    }
    return { keys: [], window: asked };
  }

  #show(table: LogicalTable, sample: AttributeSample, like: string | undefined): ServiceAnswer {
    const text = this.#dialect.typeName('string');
    const count = this.#dialect.typeName('int64');
    const { start, end } = sample.window;
    const wanted = like === undefined ? () => true : likeMatcher(like);
    const rows = sample.keys
      .filter(({ key }) => wanted(key))
      .map(({ map, key, values, distinct, rows: seen }) => [map, key, values, String(distinct), String(seen)]);
    const range = [
      ...(start === undefined ? [] : [`from ${start.toISOString()}`]),
      ...(end === undefined ? [] : [`to ${end.toISOString()}`]),
    ].join(' ');
    return {
      columns: [
        own('map', text),
        { name: 'key', type: text, untrusted: true },
        { name: 'values', type: `${text}[]`, untrusted: true },
        own('distinct_values', count),
        own('rows', count),
      ],
      rows,
      warnings: [
        `From a sample of at most ${slices * rowsPerSlice} rows of otel.${table.name}${range === '' ? '' : ` ${range}`}: counts are of the sample, values the most frequent. Send start and end for another range.`,
        attributeAdvice(this.#dialect),
      ],
    };
  }
}

/** Written with nothing but the constructs that all dialects share and the dialect's own writer. */
export function sampleSql(dialect: Dialect, table: LogicalTable, window: SampleWindow): string {
  const { write } = dialect;
  const maps = table.columns.filter((column) => column.type === 'map').map((column) => column.name);
  const from = `SELECT ${maps.join(', ')} FROM otel.${table.name}`;
  const bounds = sliceBounds(window);
  const sampled =
    bounds.length === 0
      ? `${from} ORDER BY time DESC LIMIT ${slices * rowsPerSlice}`
      : bounds
          .map(
            ([start, end], index) =>
              `SELECT * FROM (${from} WHERE time >= ${write.literal(start)} AND time < ${write.literal(end)} LIMIT ${rowsPerSlice}) AS slice${index}`,
          )
          .join(' UNION ALL ');
  const pairs = maps
    .map(
      (map, index) =>
        `SELECT ${write.literal(map)} AS map_name, a${index}.key AS attr_key, a${index}.value AS attr_value FROM sampled AS s${index}, ${write.unnestMap(`s${index}.${map}`, `a${index}`)}`,
    )
    .join(' UNION ALL ');
  return `WITH sampled AS (${sampled}), pairs AS (${pairs}), counted AS (SELECT map_name, attr_key, attr_value, count(*) AS n FROM pairs GROUP BY map_name, attr_key, attr_value), ranked AS (SELECT map_name, attr_key, attr_value, row_number() OVER (PARTITION BY map_name, attr_key ORDER BY n DESC, attr_value) AS nth, count(*) OVER (PARTITION BY map_name, attr_key) AS distinct_values, sum(n) OVER (PARTITION BY map_name, attr_key) AS seen FROM counted) SELECT map_name, attr_key, attr_value, distinct_values, seen FROM ranked WHERE nth <= ${valuesPerKey} ORDER BY seen DESC, map_name, attr_key, nth LIMIT ${mostPairs}`;
}

/** Equal parts of the window; none when it is open at the start. */
function sliceBounds({ start, end }: SampleWindow): (readonly [Date, Date])[] {
  if (start === undefined || end === undefined) return [];
  const width = (end.getTime() - start.getTime()) / slices;
  const edge = (index: number): Date => new Date(Math.round(start.getTime() + index * width));
  return Array.from({ length: slices }, (_, index) => [edge(index), edge(index + 1)] as const).filter(
    ([from, to]) => from < to,
  );
}

function groupPairs(rows: readonly (readonly unknown[])[]): AttributeKey[] {
  const keys = new Map<string, { readonly first: Pair; readonly values: (string | null)[] }>();
  for (const row of rows) {
    if (!isPair(row)) continue;
    const [map, key, value] = row;
    const id = JSON.stringify([map, key]);
    const known = keys.get(id);
    if (known === undefined) keys.set(id, { first: row, values: [value] });
    else known.values.push(value);
  }
  return [...keys.values()].map(({ first: [map, key, , distinct, seen], values }) => ({
    map,
    key,
    values,
    distinct: Number(distinct),
    rows: Number(seen),
  }));
}

function isPair(row: readonly unknown[]): row is Pair {
  return row.length === 5 && typeof row[0] === 'string' && typeof row[1] === 'string';
}
