import type { TableName } from '../../../src/contract/telemetry/index.ts';
import type { Finding } from '../notebook.ts';
import type { TimeRange } from '../question/time-range.ts';
import { code, moment, inList, within } from '../sql.ts';
import type { Scene, Step } from '../scene.ts';

export interface Coverage extends Finding {
  readonly table: TableName;
  /** The stretch that is counted apart. */
  readonly recent: TimeRange;
  readonly services: readonly { readonly name: string; readonly rows: number; readonly recent: number }[];
  /** In the stretch that is counted apart there are spans enough to judge by them. */
  readonly traced: boolean;
  readonly first: Date | undefined;
  readonly last: Date | undefined;
}

interface CoverageInquiry extends Pick<Scene, 'notebook' | 'write'> {
  readonly table: TableName;
  /** How far to look. */
  readonly range: TimeRange;
  /** Counted apart. */
  readonly recent: TimeRange;
  /** Names that come first, since the question may mean them. */
  readonly candidates: readonly string[];
}

/** Of fewer spans of a service no operation has twenty on both sides to be compared: traces were sampled, or few things are traced. */
const leastSpans = 40;

/** Which services have sent anything, and when: what can be asked at all. */
export async function* coverage(inquiry: CoverageInquiry): Step<Coverage> {
  const { notebook, write, table, range, recent, candidates } = inquiry;
  const preferred =
    candidates.length === 0 ? '' : `CASE WHEN ${inList(write, 'lower(service_name)', candidates)} THEN 0 ELSE 1 END, `;
  const sql = `SELECT service_name, count(*) AS total, ${write.countIf(within(write, 'time', recent))} AS recent, min(time) AS first_seen, max(time) AS last_seen
FROM otel.${table}
WHERE ${within(write, 'time', range).slice(1, -1)}
GROUP BY service_name
ORDER BY ${preferred}count(*) DESC, service_name
LIMIT 50`;
  const { rows: answer, ...finding } = yield* notebook.ask({
    question: `Which services have sent ${table}, and when?`,
    sql,
    window: range,
    judge(rows) {
      const total = rows.reduce((sum, row) => sum + row.number('total'), 0);
      if (total === 0) return `There are no ${table} from ${moment(range.start)} on.`;
      const names = rows.slice(0, 12).map((row) => code(row.text('service_name'), 60));
      const more = rows.length > names.length ? ` and ${rows.length - names.length} more` : '';
      return `${total} ${table} of ${rows.length} services: ${names.join(', ')}${more}.`;
    },
  });
  const times = (column: string) =>
    answer.map((row) => row.time(column)?.getTime()).filter((time) => time !== undefined);
  const [firsts, lasts] = [times('first_seen'), times('last_seen')];
  const services = answer.map((row) => ({
    name: row.text('service_name'),
    rows: row.number('total'),
    recent: row.number('recent'),
  }));
  const total = (which: 'rows' | 'recent'): number => services.reduce((sum, service) => sum + service[which], 0);
  const inRecent = total('recent') || total('rows');
  return {
    ...finding,
    table,
    recent,
    services,
    traced: table === 'spans' && services.length > 0 && inRecent >= leastSpans * services.length,
    first: firsts.length === 0 ? undefined : new Date(Math.min(...firsts)),
    last: lasts.length === 0 ? undefined : new Date(Math.max(...lasts)),
  };
}
