import type { SetupScript } from '../../../src/contract/index.ts';
import { identifier } from '../quote.ts';
import { access } from './access.ts';
import type { AccessOptions } from './access.ts';
import { accessSql, script } from './access-sql.ts';
import { ownTables } from './own-tables.ts';
import type { OwnTables } from './own-tables.ts';

export interface SetupOptions {
  readonly access: AccessOptions;
  readonly cluster?: string;
  /** Where our receiver's rows go, and as whom they are written; absent when the warehouse is fed by another way. */
  readonly own?: OwnTables & { readonly writer: string };
}

/** What an administrator runs once, in this order. */
export async function setupScripts({ access: options, cluster, own }: SetupOptions): Promise<readonly SetupScript[]> {
  const scripts = accessSql(await access(options), cluster);
  if (own === undefined) return scripts;
  return [
    { title: "Tables for what Sightline's receiver takes in", sql: script(ownTables(own)) },
    { title: 'The user that writes them', sql: script(writerSql(own)) },
    ...scripts,
  ];
}

/** The writer inserts and deletes what is too old, and reads of them only whose they are, when, and what was loaded. */
function writerSql({ database, prefix, cluster, writer }: NonNullable<SetupOptions['own']>): readonly string[] {
  const on = cluster === undefined ? '' : ` ON CLUSTER ${identifier(cluster)}`;
  const user = identifier(writer);
  const path = (table: string) => `${identifier(database)}.${identifier(`${prefix}${table}`)}`;
  return [
    `CREATE USER IF NOT EXISTS ${user}${on} IDENTIFIED WITH sha256_password BY '<password>'`,
    ...['spans', 'metrics', 'logs'].flatMap((table) => [
      `GRANT${on} INSERT, ALTER DELETE ON ${path(table)} TO ${user}`,
      `GRANT${on} SELECT(organization, _log, _batch, time) ON ${path(table)} TO ${user}`,
    ]),
    `GRANT${on} INSERT, SELECT ON ${path('positions')} TO ${user}`,
  ];
}
