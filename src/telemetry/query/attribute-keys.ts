import type { OrganizationId } from '../../contract/core/index.ts';
import type { Dialect, LogicalTable, ReadRules } from '../../contract/telemetry/index.ts';
import { attributeAdvice, own, type ServiceAnswer } from './catalog.ts';
import { readableTable } from './governance.ts';
import { likePattern } from './service-command.ts';

/**
 * Rows of a table that are looked at, in slices spread over the window so that one busy second does not stand for all. A gate
 * counts each slice nine times, and a statement may read 64 tables. Rows come by time, since tables that are sorted by service
 * would show the first of them alone; of each slice's share first, so that a busy table is not sorted as a whole.
 */
const slices = 5;
const rowsPerSlice = 2_000;
const narrow = 0.01;
const enoughRows = 1_000;
const valuesPerKey = 5;
/** Keys with a value that are answered, and attributes that fit a pattern that are looked at for them. */
const mostPairs = 5_000;
const mostFitting = 100_000;
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
  /** Whether there are more than were looked at. */
  readonly isCut: boolean;
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
    { organizationId, table: whole, like, window, rules }: AttributeQuestion,
    run: RunSample,
  ): Promise<ServiceAnswer> {
    const table = readableTable(whole, rules);
    const kept = async (word: string, make: () => Promise<AttributeSample>): Promise<AttributeSample> => {
      const key = [organizationId, table.name, window.start?.getTime(), window.end?.getTime(), rules?.key, word].join(
        ' ',
      );
      const now = this.#now().getTime();
      const sample = this.#find(key, now) ?? (await make());
      this.#keep(key, sample, now);
      return sample;
    };
    const sample = await kept('', () => this.#sample(table, window, run));
    if (like === undefined || sample.keys.length === 0) return this.#show(table, sample, like);
    // A sample holds the commonest keys; those of a pattern are looked for among all.
    const fitting = await kept(like, async () => {
      const rows = await run(fittingSql(this.#dialect, table, sample.window, like), sample.window);
      return sampleOf(rows, sample.window);
    });
    return this.#show(table, fitting, like);
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
    if (mapsOf(table).length === 0) return { keys: [], window: asked, isCut: false };
    const end = Math.min(asked.end?.getTime() ?? Infinity, this.#now().getTime());
    const windows: SampleWindow[] =
      asked.start === undefined
        ? [1, 24, 720].map((hours) => ({ start: new Date(Math.max(0, end - hours * hour)), end: new Date(end) }))
        : [asked];
    let sample: AttributeSample = { keys: [], window: asked, isCut: false };
    for (const window of windows) {
      for (const share of [narrow, 1]) {
        const rows = await run(sampleSql(this.#dialect, table, window, share), window);
        sample = sampleOf(rows, window);
        const most = Math.max(0, ...sample.keys.map(({ rows: seen }) => seen));
        if (most >= enoughRows || (share === 1 && most > 0)) return sample;
      }
    }
    return sample;
  }

  #show(table: LogicalTable, { keys, window, isCut }: AttributeSample, like: string | undefined): ServiceAnswer {
    const text = this.#dialect.typeName('string');
    const count = this.#dialect.typeName('int64');
    const rows = keys.map(({ map, key, values, distinct, rows: seen }) => [
      map,
      key,
      values,
      String(distinct),
      String(seen),
    ]);
    const range = [
      ...(window.start === undefined ? [] : [` from ${window.start.toISOString()}`]),
      ...(window.end === undefined ? [] : [` to ${window.end.toISOString()}`]),
    ].join('');
    const looked =
      like === undefined
        ? `From a sample of at most ${slices * rowsPerSlice} rows of otel.${table.name}${range}: counts are of the sample, values the most frequent.`
        : `From otel.${table.name}${range}: values are the most frequent.`;
    const more = `There are more keys than were looked at. Send ${like === undefined ? '' : 'a narrower '}LIKE 'http.%' for some of them.`;
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
        `${looked} Send start and end for another range.`,
        ...(isCut ? [more] : []),
        attributeAdvice(this.#dialect),
      ],
    };
  }
}

/** What few senders fill is not worth its share of the sample. */
function mapsOf(table: LogicalTable): readonly string[] {
  return table.columns.flatMap(({ name, type, rare }) => (type === 'map' && rare !== true ? [name] : []));
}

/** Written with nothing but what all dialects share and the dialect's own writer. `share`: of each slice. */
export function sampleSql(
  dialect: Pick<Dialect, 'write'>,
  table: LogicalTable,
  window: SampleWindow,
  share: number,
): string {
  const from = `SELECT ${mapsOf(table).join(', ')} FROM otel.${table.name}`;
  const bounds = sliceBounds(window, share);
  const sampled =
    bounds.length === 0
      ? `${from} ORDER BY time DESC LIMIT ${slices * rowsPerSlice}`
      : bounds
          .map(
            (bound, index) =>
              `SELECT * FROM (${from} WHERE ${within(dialect, bound, 'time')} ORDER BY time LIMIT ${rowsPerSlice}) AS slice${index}`,
          )
          .join(' UNION ALL ');
  return `WITH sampled AS (${sampled}), ${ranked(table, (map) => pairsOf(dialect, map, 'sampled'))}`;
}

/** All attributes whose key fits the pattern, in no order. */
export function fittingSql(
  dialect: Pick<Dialect, 'write'>,
  table: LogicalTable,
  { start, end }: SampleWindow,
  like: string,
): string {
  return `WITH ${ranked(table, (map) => {
    const bound = within(dialect, [start, end], 's.time');
    const fits = `${bound === '' ? '' : `${bound} AND `}${dialect.write.matches('a.key', likePattern(like))}`;
    return `SELECT * FROM (${pairsOf(dialect, map, `otel.${table.name}`)} WHERE ${fits} LIMIT ${mostFitting}) AS of_${map}`;
  })}`;
}

function pairsOf({ write }: Pick<Dialect, 'write'>, map: string, from: string): string {
  return `SELECT ${write.literal(map)} AS map_name, a.key AS attr_key, a.value AS attr_value FROM ${from} AS s, ${write.unnestMap(`s.${map}`, 'a')}`;
}

function within({ write }: Pick<Dialect, 'write'>, [start, end]: readonly (Date | undefined)[], time: string): string {
  const from = start && `${time} >= ${write.literal(start)}`;
  const to = end && `${time} < ${write.literal(end)}`;
  return [from ?? [], to ?? []].flat().join(' AND ');
}

/** The rest of a WITH: each key with its most frequent values. */
function ranked(table: LogicalTable, pairs: (map: string) => string): string {
  return `pairs AS (${mapsOf(table).map(pairs).join(' UNION ALL ')}), counted AS (SELECT map_name, attr_key, attr_value, count(*) AS n FROM pairs GROUP BY map_name, attr_key, attr_value), ranked AS (SELECT map_name, attr_key, attr_value, row_number() OVER (PARTITION BY map_name, attr_key ORDER BY n DESC, attr_value) AS nth, count(*) OVER (PARTITION BY map_name, attr_key) AS distinct_values, sum(n) OVER (PARTITION BY map_name, attr_key) AS seen FROM counted) SELECT map_name, attr_key, attr_value, distinct_values, seen FROM ranked WHERE nth <= ${valuesPerKey} ORDER BY seen DESC, map_name, attr_key, nth LIMIT ${mostPairs}`;
}

/** Equal parts of the window; none when it is open. */
function sliceBounds({ start, end }: SampleWindow, share: number): (readonly [Date, Date])[] {
  if (start === undefined || end === undefined) return [];
  const width = (end.getTime() - start.getTime()) / slices;
  const edge = (index: number): Date => new Date(Math.round(start.getTime() + index * width));
  return Array.from({ length: slices }, (_, index) => [edge(index), edge(index + share)] as const).filter(
    ([from, to]) => from < to,
  );
}

function sampleOf(rows: readonly (readonly unknown[])[], window: SampleWindow): AttributeSample {
  const keys = groupPairs(rows);
  const seen = new Map<string, number>();
  for (const { map, rows: count } of keys) seen.set(map, (seen.get(map) ?? 0) + count);
  const isCut = rows.length >= mostPairs || [...seen.values()].some((count) => count >= mostFitting);
  return { keys, window, isCut };
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
