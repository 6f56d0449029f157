import type { AuditRecord, AuditRepository } from '../../../src/contract/index.ts';
import { boolean, date, integer, optional } from '../columns.ts';
import type { ScopedDatabase } from '../database.ts';
import { auditEventColumn } from '../enums.ts';
import { pageSize } from '../limits.ts';
import type { AuditRow } from '../rows.ts';

/** knex writes the rows for SQLite as one compound SELECT, which may have 500 parts. */
const rowsAStatement = 400;

export class Audit implements AuditRepository {
  readonly #database: ScopedDatabase;

  constructor(database: ScopedDatabase) {
    this.#database = database;
  }

  async append(records: readonly AuditRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.#database.write(async (scope) => {
      for (let start = 0; start < records.length; start += rowsAStatement) {
        await scope.insert('audit', records.slice(start, start + rowsAStatement).map(toRow));
      }
    });
  }

  list({ limit, before }: { readonly limit: number; readonly before?: Date }): Promise<readonly AuditRecord[]> {
    return this.#database.read(async (scope) => {
      const query = scope.from('audit').orderBy(['at', 'id'].map((column) => ({ column, order: 'desc' })));
      if (before !== undefined) query.where('at', '<', before.getTime());
      return (await query.limit(pageSize(limit))).map(toRecord);
    });
  }
}

function toRow(record: AuditRecord): Omit<AuditRow, 'organization_id'> {
  return {
    at: record.at.getTime(),
    event: record.event,
    subject: record.subject,
    request_id: record.requestId,
    target: record.target,
    outcome: record.outcome,
    arguments_hash: record.argumentsHash ?? null,
    duration_ms: record.durationMs ?? null,
    row_count: record.rows ?? null,
    bytes: record.bytes ?? null,
    truncated: record.truncated ?? null,
  };
}

function toRecord(row: AuditRow): AuditRecord {
  return {
    at: date(row.at),
    event: auditEventColumn.parse(row.event),
    subject: row.subject,
    requestId: row.request_id,
    target: row.target,
    outcome: row.outcome,
    ...optional('argumentsHash', row.arguments_hash, String),
    ...optional('durationMs', row.duration_ms, Number),
    ...optional('rows', row.row_count, integer),
    ...optional('bytes', row.bytes, integer),
    ...optional('truncated', row.truncated, boolean),
  };
}
