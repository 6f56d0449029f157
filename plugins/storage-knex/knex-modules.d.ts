// knex ships no types for its dialects. Only what knex-private.ts hands on is declared.
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex';
  import type { SQLInputValue } from 'node:sqlite';
  import type { ColumnValue } from './tables.ts';

  export default class SqliteClient extends Knex.Client {
    override connectionSettings: {
      readonly filename: string;
      readonly options: { readonly readonly?: boolean; readonly thread?: boolean };
    };
    _driver(): unknown;
    _query(connection: unknown, query: SqliteQuery): Promise<SqliteQuery>;
    _formatBindings(bindings: readonly unknown[] | undefined): readonly SQLInputValue[];
  }

  export interface SqliteQuery {
    readonly sql: string;
    readonly bindings?: readonly unknown[];
    /** `rows`: see Scope.insertMany. */
    readonly options?: { readonly rows?: readonly (readonly ColumnValue[])[] };
    response?: unknown;
    context?: { readonly lastID: number | bigint; readonly changes: number | bigint };
  }
}

declare module 'knex/lib/dialects/mysql2/index.js' {
  import type { Knex } from 'knex';
  import type { Connection } from 'mysql2';
  import type { ColumnValue } from './tables.ts';

  export default class MysqlClient extends Knex.Client {
    override config: Knex.Config & {
      readonly userParams: {
        readonly answerMs: number | undefined;
        readonly around: ((sql: string, run: () => Promise<void>) => Promise<void>) | undefined;
        readonly password: () => Promise<string>;
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

declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';
  import type { Client, QueryResult } from 'pg';
  import type { ColumnValue } from './tables.ts';

  export default class PostgresClient extends Knex.Client {
    override config: Knex.Config & { readonly userParams: { readonly password: () => Promise<string> } };
    acquireRawConnection(): Promise<Client>;
    destroyRawConnection(connection: Client): Promise<void>;
    _query(connection: Client, query: PostgresQuery): Promise<PostgresQuery>;
  }

  export interface PostgresQuery {
    readonly sql: string;
    readonly bindings?: readonly unknown[];
    /** `rows`: see Scope.insertMany. */
    options?: { readonly query_timeout?: number; readonly rows?: readonly (readonly ColumnValue[])[] };
    response?: QueryResult | readonly QueryResult[];
  }
}

declare module 'knex/lib/dialects/postgres/schema/pg-columncompiler.js' {
  export default class PostgresColumnCompiler {
    constructor(...parameters: readonly unknown[]);
    varchar(length: number): string;
  }
}
