// knex ships no types for its dialects. Only what the subclasses in client.ts touch is declared.
declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex';
  import type { Client, QueryResult } from 'pg';
  import type { ColumnValue } from '../rows.ts';

  export default class PostgresClient extends Knex.Client {
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

declare module 'knex/lib/dialects/postgres/execution/pg-transaction.js' {
  import type { Knex } from 'knex';

  // oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the class is knex's, and has what its interface says
  export default interface PostgresTransaction extends Knex.Transaction {}
  export default class PostgresTransaction {
    constructor(client: unknown, container: unknown, config: unknown, outer: unknown);
    // As Knex.Transaction has it; what it gives is a promise.
    query(connection?: unknown, sql?: string): Knex.QueryBuilder;
    begin(connection: unknown): Knex.QueryBuilder;
  }
}

declare module 'knex/lib/dialects/postgres/schema/pg-columncompiler.js' {
  export default class PostgresColumnCompiler {
    constructor(...parameters: readonly unknown[]);
    varchar(length: number): string;
  }
}
