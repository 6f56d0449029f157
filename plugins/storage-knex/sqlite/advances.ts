import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { ChainAdvance } from '../chain-advance.ts';
import { auditColumns, auditValues } from '../repositories/audit-rows.ts';
import type { Advance, Advanced } from './advance.ts';
import type { NodeSqliteClient } from './client.ts';
import { errorOf } from './failure.ts';

interface Waiting {
  readonly advance: Advance;
  readonly resolve: (moved: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows of one transaction, unless one advance alone has more: so long do other writers wait. */
const rowsAtOnce = 2_000;

const moveSql =
  'update audit_chains set seq = ?, hash = ?, seal = ? where organization_id = ? and number = ? and seq = ? and hash = ?';
const insertSql = `insert into audit (${['organization_id', ...auditColumns].join(', ')}) values`;

/**
 * Advances of all organizations' audit chains, in one transaction what came while the last one was written. Each for itself
 * would take half a millisecond of this thread and a way to the disk, which many organizations would have to share.
 */
export class Advances {
  readonly #client: NodeSqliteClient;
  readonly #waiting: Waiting[] = [];
  #writing = false;

  constructor(client: NodeSqliteClient) {
    this.#client = client;
  }

  /** Durable when it resolves; see advanceChain. */
  add(organizationId: OrganizationId, { chain, from, to, records }: ChainAdvance): Promise<boolean> {
    const advance = {
      move: { sql: moveSql, bindings: [to.seq, to.hash, to.seal, organizationId, chain, from.seq, from.hash] },
      insert: { sql: insertSql, rows: records.map((each) => [organizationId, ...auditValues(chain, each)]) },
    };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ advance, resolve, reject });
      if (!this.#writing) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) await this.#write();
    this.#writing = false;
  }

  async #write(): Promise<void> {
    let together: readonly Waiting[] = [];
    try {
      const connection = await this.#client.acquireConnection();
      try {
        together = this.#next();
        const advanced = await this.#client.advance(
          connection,
          together.map(({ advance }) => advance),
        );
        for (const [index, { resolve, reject }] of together.entries()) settle(advanced[index], resolve, reject);
      } finally {
        await this.#client.releaseConnection(connection);
      }
    } catch (error) {
      if (together.length === 0) together = this.#waiting.splice(0);
      for (const { reject } of together) reject(error);
    }
  }

  #next(): readonly Waiting[] {
    let rows = 0;
    const end = this.#waiting.findIndex(({ advance }, index) => {
      rows += advance.insert.rows.length;
      return index > 0 && rows > rowsAtOnce;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}

function settle(advanced: Advanced | undefined, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
  if (advanced === undefined) reject(new Error('an advance was not answered'));
  else if ('failure' in advanced) reject(errorOf(advanced.failure));
  else resolve(advanced.moved);
}
