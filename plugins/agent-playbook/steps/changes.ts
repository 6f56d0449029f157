import { listed, type Finding, type Row } from '../notebook.ts';
import type { Scene, Step } from '../scene.ts';
import type { Versions } from './versions.ts';
import { code, moment, within } from '../sql.ts';

/** Also a flag that was evaluated and gave what it did not give before. */
const kinds = ['deploy', 'flag', 'evaluation'] as const;

/** A deploy or a turned flag: a fact beside the trouble, and no cause by itself. */
export interface Change {
  readonly kind: (typeof kinds)[number];
  readonly at: Date;
  /** '' for a flag of no one service. */
  readonly service: string;
  readonly version: string;
  readonly flag: string;
  readonly value: string;
  readonly status: string;
  readonly environment: string;
  readonly who: string;
  readonly url: string;
  readonly evidenceIds: readonly string[];
}

/** By when they were made against when the trouble began; all are `during` where that is not known, or nothing began. */
export interface Changes extends Finding {
  /** Whether any sender says what it deploys. */
  readonly told: boolean;
  /** What matters most first: those of the service that is blamed, then the nearest. */
  readonly before: readonly Change[];
  readonly after: readonly Change[];
  readonly during: readonly Change[];
}

interface Around {
  readonly service?: string | undefined;
  readonly began?: Date | undefined;
  readonly versions?: Pick<Versions, 'evidenceId' | 'added'> | undefined;
}

const minute = 60_000;
/** A change of the service that is blamed counts as long. */
const farthest = 6 * 60 * minute;
/** What others changed longer before has mostly shown its effect. */
const beside = 60 * minute;
/** A beginning is known to about so much. */
const atOnce = 2 * minute;
/** So unlikely must it be that a flag's value was only rare. */
const byChance = 0.001;

/** What was deployed and which flags were turned around that time, as log events tell. */
export async function* changesAround(
  { notebook, write, windows, environment }: Pick<Scene, 'notebook' | 'write' | 'windows' | 'environment'>,
  around: Around,
): Step<Changes> {
  const { began, versions } = around;
  const reference = began ?? windows.now.start;
  const range = { start: new Date(reference.getTime() - farthest), end: windows.now.end };
  const attribute = (key: string) => `COALESCE(${write.attribute('attributes', key)}, '')`;
  const first = (...texts: readonly string[]): string =>
    texts.reduceRight((rest, text) => `CASE WHEN ${text} <> '' THEN ${text} ELSE ${rest} END`);
  const columns = {
    service: first(attribute('service.name'), 'service_name'),
    version: first(attribute('service.version'), 'service_version'),
    flag: attribute('feature_flag.key'),
    flag_value: first(attribute('feature_flag.result.variant'), attribute('feature_flag.result.value')),
    id: first(attribute('deployment.id'), attribute('log.record.uid')),
    status: attribute('deployment.status'),
    environment: first(attribute('deployment.environment.name'), 'deployment_environment'),
    who: attribute('user.name'),
    url: attribute('url.full'),
  };
  // Reports with one id are one change; evaluations of one value are one, the first.
  const kind = `CASE WHEN event_name LIKE 'deploy%' THEN 'deploy' WHEN event_name = 'feature_flag.evaluation' THEN 'evaluation' ELSE 'flag' END`;
  const mark = `CASE WHEN event_name = 'feature_flag.evaluation' THEN '' WHEN id <> '' THEN id ELSE ${write.timeText('time', '%Y-%m-%d %H:%M:%S')} END`;
  const latest = (column: string) => `${write.valueAt(column, 'time', 'max')} AS ${column}`;
  const sql = `SELECT min(time) AS first_seen, kind, service, version, flag, flag_value, mark, count(*) AS events, ${['status', 'environment', 'who', 'url'].map(latest).join(', ')}
FROM (
  SELECT time, service, version, flag, flag_value, status, environment, who, url, ${kind} AS kind, ${mark} AS mark
  FROM (
    SELECT time, event_name, ${Object.entries(columns)
      .map(([name, value]) => `${value} AS ${name}`)
      .join(', ')}
    FROM otel.logs
    WHERE ${within(write, 'time', range).slice(1, -1)} AND (event_name LIKE 'deploy%' OR event_name LIKE 'feature_flag%')
  ) e
) c
GROUP BY kind, service, version, flag, flag_value, mark
ORDER BY CASE WHEN kind = 'evaluation' THEN 2 WHEN service = ${write.literal(around.service ?? '')} THEN 0 ELSE 1 END, abs(${write.epochSeconds('min(time)')} - ${Math.round(reference.getTime() / 1_000)}), service, flag, flag_value
LIMIT 50`;
  const { rows, ...finding } = yield* notebook.ask({
    question: 'What was deployed, and which flags were changed?',
    sql,
    window: range,
    judge(answer) {
      const found = readChanges(answer, range.end, '').slice(0, 5);
      const lines = found.map((change) => `${describe(change)} at ${moment(change.at)}`);
      return listed(lines, 'No event of a deploy or a changed flag.', 'neutral');
    },
  });
  const all = readChanges(rows, range.end, finding.evidenceId)
    .map((change) => withSpans(change, versions))
    .filter((change) => !isOtherTier(change.environment, environment));
  const own = (change: Change): boolean => change.service !== '' && change.service === around.service;
  const distance = ({ at }: Change): number => Math.abs(at.getTime() - reference.getTime());
  const sorted = all.toSorted((a, b) => Number(own(b)) - Number(own(a)) || distance(a) - distance(b));
  const near = sorted.filter((change) => own(change) || distance(change) <= beside);
  const shown = { ...finding, told: rows.length > 0 };
  if (began === undefined) {
    const from = windows.now.start.getTime() - beside;
    return { ...shown, before: [], after: [], during: all.filter(({ at }) => at.getTime() >= from) };
  }
  return {
    ...shown,
    before: near.filter(({ at }) => !isLater(at, began)),
    after: near.filter(({ at }) => isLater(at, began)),
    during: [],
  };
}

/** Later than can be told from at once. */
export function isLater(at: Date, began: Date): boolean {
  return at.getTime() > began.getTime() + atOnce;
}

/** Changes in the answer to this step; of evaluated flags those whose value is new. */
function readChanges(rows: readonly Row[], end: Date, evidenceId: string): readonly Change[] {
  const begun = new Map<string, number>();
  const flagOf = (row: Row): string => JSON.stringify([row.text('service'), row.text('flag')]);
  for (const row of rows) {
    const at = row.time('first_seen')?.getTime() ?? Infinity;
    begun.set(flagOf(row), Math.min(at, begun.get(flagOf(row)) ?? Infinity));
  }
  const isNew = (row: Row, at: Date): boolean => {
    const start = begun.get(flagOf(row)) ?? at.getTime();
    const unseen = (at.getTime() - start) / Math.max(1, end.getTime() - start);
    return (1 - unseen) ** row.number('events') < byChance;
  };
  return rows.flatMap((row) => {
    const at = row.time('first_seen');
    const kind = kinds.find((name) => name === row.text('kind'));
    if (at === undefined || kind === undefined || (kind === 'evaluation' && !isNew(row, at))) return [];
    return [
      {
        at,
        kind,
        service: row.text('service'),
        version: row.text('version'),
        flag: row.text('flag'),
        value: row.text('flag_value'),
        status: row.text('status'),
        environment: row.text('environment'),
        who: row.text('who'),
        url: row.text('url'),
        evidenceIds: [evidenceId],
      },
    ];
  });
}

/** The same release, seen in spans: one change, made when the first of the two says. */
function withSpans(change: Change, versions: Around['versions']): Change {
  const { kind, service, version } = change;
  const seen = kind === 'deploy' && versions?.added.find((one) => one.service === service && one.version === version);
  if (!seen || versions === undefined) return change;
  const at = seen.first < change.at ? seen.first : change.at;
  return { ...change, at, evidenceIds: [...change.evidenceIds, versions.evidenceId] };
}

const tiers = [/^pre-?prod|^stag|^uat/i, /^prod|^live/i, /^dev/i, /^test|^qa/i] as const;

/** `staging` is not `prod`; an alert's environment may also be a namespace, which tells nothing. */
function isOtherTier(a: string, b = ''): boolean {
  const [one, other] = [a, b].map((name) => tiers.findIndex((tier) => tier.test(name)));
  return one !== other && one !== -1 && other !== -1;
}

/** `` `payment` `2.4.0` was deployed in `production` `` */
export function describe({ kind, service, version, flag, value, status, environment, who }: Change): string {
  const where = `${environment === '' ? '' : ` in ${code(environment, 60)}`}${who === '' ? '' : ` by ${code(who, 60)}`}`;
  if (kind !== 'deploy') {
    const named = `flag ${code(flag, 100)}${service === '' ? '' : ` of ${code(service, 60)}`}`;
    if (kind === 'evaluation') return `${named} first gave ${code(value, 60)}${where}`;
    return `${named} was changed${value === '' ? '' : ` to ${code(value, 60)}`}${where}`;
  }
  const release = `${code(service, 60)}${version === '' ? '' : ` ${code(version, 60)}`}`;
  if (status === 'failed') return `a deploy of ${release} failed${where}`;
  return status === 'started' ? `a deploy of ${release} was started${where}` : `${release} was deployed${where}`;
}

/** `` `payment` `2.4.0` was deployed at 2026-11-21 08:34 UTC, 3 min before it began `` */
export function placed(change: Change, began: Date | undefined, what: string): string {
  const said = `${describe(change)} at ${moment(change.at)}`;
  if (began === undefined) return said;
  const apart = began.getTime() - change.at.getTime();
  if (Math.abs(apart) <= atOnce) return `${said}, about when ${what}`;
  const minutes = Math.round(Math.abs(apart) / minute);
  const long = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return `${said}, ${long} ${apart > 0 ? 'before' : 'after'} ${what}`;
}
