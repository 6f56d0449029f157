// knex ships no types for its dialects. Only what the subclass in client.ts touches is declared.
declare module 'knex/lib/dialects/mysql2/index.js' {
  import type { Knex } from 'knex';
  import type { Connection } from 'mysql2';
  import type { ColumnValue } from '../rows.ts';

  export default class MysqlClient extends Knex.Client {
    override config: Knex.Config & {
      readonly userParams: {
        readonly answerMs: number | undefined;
        readonly around: ((sql: string, run: () => Promise<void>) => Promise<void>) | undefined;
      };
    };
    _driver(): unknown;
    acquireRawConnection(): Promise<Connection>;
    destroyRawConnection(connection: Connection): Promise<void>;
    _query(connection: Connection, query: string | MysqlQuery): Promise<MysqlQuery>;
  }

  export interface MysqlQuery {
    readonly sql: string;
    readonly bindings?: readonly unknown[];
    /** `rows`: see Scope.insertMany. */
    options?: { readonly timeout?: number; readonly rows?: readonly (readonly ColumnValue[])[] };
    response?: unknown;
  }
}
