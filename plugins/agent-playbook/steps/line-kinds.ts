import { chunk, code, eitherWindow, isBefore, logTemplate, onlyFocus, within } from '../sql.ts';
import type { Row } from '../notebook.ts';
import { joined } from '../sample.ts';
import type { Scene, Step } from '../scene.ts';
import { drain, templatesOf, type Template } from '../templates/drain.ts';
import { type Behaviours, compareBehaviour } from './behaviour.ts';

/** Each round reads lines that the one before left apart. */
const rounds = 3;
/** Each is one more expression to evaluate for every line. */
const mostTemplates = 24;
/** Kinds rarer than this among a service's lines of equal length are no evidence alone: `leastDifference` in `behaviour.ts`. */
const rareOneIn = 10;
/** So many rare kinds of lines of one length have names in them; fewer are looked at one by one. */
const fewestKinds = 10;
/** Lines shown of each length: the rarest. */
const shown = 12;

/**
 * What only names tell apart, as `user alice logged in` of hundreds of users, which no expression known beforehand masks:
 * the rarest lines of each length of those services that have many, and what Drain makes of them. From here on lines are
 * counted by these templates.
 */
export async function* withLineKinds(scene: Scene): Step<Scene> {
  let { templates } = scene;
  for (let round = 0; round < rounds && templates.length < mostTemplates; round += 1) {
    const found = yield* learn({ ...scene, templates });
    const news = found.filter((template) => !templates.some((known) => known.join(' ') === template.join(' ')));
    if (news.length === 0) break;
    templates = [...templates, ...news].slice(0, mostTemplates);
  }
  return { ...scene, templates };
}

async function* learn(scene: Scene): Step<readonly Template[]> {
  const { notebook, write, windows, focus, templates } = scene;
  const sql = `WITH l AS (
  SELECT service_name, trace_id, time, ${logTemplate(write, 'body', templates)} AS pattern
  FROM otel.logs
  WHERE ${eitherWindow(write, 'time', windows)}${joined(scene)}${onlyFocus(write, focus)}
), m AS (
  SELECT l.service_name AS service_name, ${write.replaceRegexp('l.pattern', '[^ ]+', 'w')} AS length, l.pattern AS pattern, min(l.trace_id) AS first_trace, min(l.time) AS first_time, ${write.countIf(within(write, 'l.time', windows.now))} AS records, ${write.countIf(isBefore(write, 'l.time', windows))} AS records_before, count(*) AS lines
  FROM l
  GROUP BY l.service_name, ${write.replaceRegexp('l.pattern', '[^ ]+', 'w')}, l.pattern
), s AS (
  SELECT m.service_name AS service_name, m.length AS length, sum(m.lines) AS lines
  FROM m
  GROUP BY m.service_name, m.length
), r AS (
  SELECT m.service_name AS service_name, m.length AS length, m.pattern AS pattern, m.records AS records, m.records_before AS records_before,
    count(*) OVER (PARTITION BY m.service_name, m.length) AS kinds,
    row_number() OVER (PARTITION BY m.service_name, m.length ORDER BY m.lines, m.first_trace, m.first_time, m.pattern) AS place
  FROM m JOIN s ON s.service_name = m.service_name AND s.length = m.length
  WHERE m.lines * ${rareOneIn} <= s.lines
)
SELECT service_name, pattern, records, records_before, kinds
FROM r
WHERE kinds >= ${fewestKinds} AND place <= ${shown}
ORDER BY kinds DESC, service_name, length, place
LIMIT 50`;
  const { rows: answer } = yield* notebook.ask({
    question: 'Which lines in the logs differ in names alone?',
    sql,
    window: windows.now,
    judge(rows) {
      const found = templatesIn(rows).map((template) => code(template.join(' ')));
      return found.length === 0 ? 'None do.' : `Counted as one: ${found.slice(0, 5).join('; ')}.`;
    },
  });
  return templatesIn(answer);
}

/** Lines of one service are compared with each other alone. */
function templatesIn(rows: readonly Row[]): readonly Template[] {
  const services = [...new Set(rows.map((row) => row.text('service_name')))];
  return services.flatMap((service) => {
    const lines = rows.filter((row) => row.text('service_name') === service).map((row) => row.text('pattern'));
    return drain(lines).flatMap(templatesOf);
  });
}

/**
 * Kinds of log lines outside spans that became more or less frequent. Counted once per trace if lines name their trace, else
 * line by line. A service whose request lines are recognized is left out unless a person reported a problem: its other lines
 * come from garbage collectors and timers, and vary without a fault.
 */
export async function* logMix(scene: Scene): Step<Behaviours> {
  const { write, windows, focus, said, templates } = scene;
  const times = (side: string, name: string) =>
    `CASE WHEN trace_id = '' THEN ${write.countIf(side)} ELSE max(CASE WHEN ${side} THEN 1 ELSE 0 END) END AS ${name}`;
  const part = chunk(write, 'time', windows);
  const apart = `CASE WHEN trace_id = '' THEN ${part} END`;
  const [now, before] = [within(write, 'time', windows.now), isBefore(write, 'time', windows)];
  const both = eitherWindow(write, 'time', windows);
  const telling = `SELECT service_name FROM otel.logs WHERE ${both} AND span_id <> ''`;
  const wanted = `${both}${onlyFocus(write, focus)}${said ? '' : ` AND service_name NOT IN (${telling})`}`;
  const items = `SELECT service_name, '' AS operation, pattern, trace_id, 1 AS times, min(${part}) AS chunk, ${times(now, 'is_now')}, ${times(before, 'is_before')}
  FROM (
    SELECT service_name, trace_id, time, ${logTemplate(write, 'body', templates)} AS pattern
    FROM otel.logs
    WHERE ${wanted}
  ) l
  GROUP BY service_name, pattern, trace_id, ${apart}`;
  const units = `SELECT service_name, '' AS operation, chunk, sum(seen) AS spans, sum(seen_before) AS spans_before
  FROM (
    SELECT service_name, trace_id, min(${part}) AS chunk, ${times(now, 'seen')}, ${times(before, 'seen_before')}
    FROM otel.logs
    WHERE ${wanted}
    GROUP BY service_name, trace_id, ${apart}
  ) u
  GROUP BY service_name, chunk`;
  const question = 'Which kinds of log lines come more or less often among those of their service than before?';
  return yield* compareBehaviour(scene, { kind: 'line', question, items, units });
}
