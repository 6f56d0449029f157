import { createHash } from 'node:crypto';
import { tableNames, type ResolvedMapping, type SetupScript } from '../../../src/contract/telemetry/index.ts';
import { quoteName } from '../literals.ts';
import { isNamed } from './grants.ts';

/**
 * What the views need to find rows by time where the tables have it without a zone: an index on the time as the views give
 * it. Undefined where the tables have it as it is.
 */
export function indexesScript(mappings: readonly ResolvedMapping[]): SetupScript | undefined {
  const sources = mappings.flatMap(({ tables }) => tableNames.flatMap((table) => tables[table] ?? []));
  const sql = sources.flatMap(({ from, columns, timeBounds }) => {
    const { time } = columns;
    if (timeBounds === undefined || time === undefined || !isNamed(from)) return [];
    const name = `sightline_time_${createHash('sha256').update(from).digest('hex').slice(0, 12)}`;
    return [
      `CREATE INDEX IF NOT EXISTS ${quoteName(name)} ON ${from} USING brin ((${time})) WITH (pages_per_range = 32);`,
    ];
  });
  return sql.length === 0
    ? undefined
    : {
        title:
          'Indexes by time. Run by the owner of the tables; nobody writes to one while its index is built, so say CREATE INDEX CONCURRENTLY where they are large.',
        sql: sql.join('\n'),
      };
}
