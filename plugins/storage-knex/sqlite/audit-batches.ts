import type { OrganizationId } from '../../../src/contract/core/index.ts';
import { type ChainAdvance, auditRow } from '../repositories/audit-rows.ts';
import type { NodeSqliteClient } from './client.ts';
import { type Append, type Appended, errorOf } from './execute.ts';

interface Waiting {
  readonly append: Append;
  readonly resolve: (moved: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows of one transaction, unless a single append has more: other writers wait that long. */
const rowsAtOnce = 2_000;

const moveSql =
  'update audit_chains set seq = ?, hash = ?, seal = ? where organization_id = ? and number = ? and seq = ? and hash = ?';

/**
 * Group commit of the audit: appends of all organizations that arrive during one commit share the next. One commit each would
 * be one fsync each, for which many organizations would have to queue.
 */
export class AuditBatches {
  readonly #client: NodeSqliteClient;
  readonly #waiting: Waiting[] = [];
  #writing = false;

  constructor(client: NodeSqliteClient) {
    this.#client = client;
  }

  /** Durable when it resolves; see advanceChain. */
  add(organizationId: OrganizationId, { chain, from, to, records }: ChainAdvance): Promise<boolean> {
    const rows = records.map((each) => Object.assign(auditRow(chain, each), { organization_id: organizationId }));
    const columns = Object.keys(rows[0] ?? {}).join(', ');
    const append = {
      move: { sql: moveSql, bindings: [to.seq, to.hash, to.seal, organizationId, chain, from.seq, from.hash] },
      insert: { sql: `insert into audit (${columns}) values`, rows: rows.map((row) => Object.values(row)) },
    };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject });
      if (!this.#writing) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) await this.#write();
    this.#writing = false;
  }

  async #write(): Promise<void> {
    let batch: readonly Waiting[] = [];
    try {
      const connection = await this.#client.acquireConnection();
      try {
        batch = this.#next();
        const appended = await this.#client.append(
          connection,
          batch.map(({ append }) => append),
        );
        for (const [index, { resolve, reject }] of batch.entries()) settle(appended[index], resolve, reject);
      } finally {
        await this.#client.releaseConnection(connection);
      }
    } catch (error) {
      if (batch.length === 0) batch = this.#waiting.splice(0);
      for (const { reject } of batch) reject(error);
    }
  }

  #next(): readonly Waiting[] {
    let rows = 0;
    const end = this.#waiting.findIndex(({ append }, index) => {
      rows += append.insert.rows.length;
      return index > 0 && rows > rowsAtOnce;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}

function settle(appended: Appended | undefined, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
  if (appended === undefined) reject(new Error('an append was not answered'));
  else if ('failure' in appended) reject(errorOf(appended.failure));
  else resolve(appended.moved);
}
