// knex ships no types for its dialects. Only what the subclass in client.ts touches is declared.
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex';
  import type { SQLInputValue } from 'node:sqlite';
  import type { ColumnValue } from '../rows.ts';

  export default class BetterSqlite3Client extends Knex.Client {
    override connectionSettings: { readonly filename: string; readonly options: { readonly readonly: boolean } };
    _driver(): unknown;
    _query(connection: unknown, query: KnexQuery): Promise<KnexQuery>;
    _formatBindings(bindings: readonly unknown[] | undefined): readonly SQLInputValue[];
  }

  export interface KnexQuery {
    readonly sql: string;
    readonly bindings?: readonly unknown[];
    /** `rows`: see Scope.insertMany. */
    readonly options?: { readonly rows?: readonly (readonly ColumnValue[])[] };
    response?: unknown;
    context?: { readonly lastID: number | bigint; readonly changes: number | bigint };
  }
}
