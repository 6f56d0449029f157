import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type { Cursor, QueryLimits, StatementBinding, Telemetry } from '../../../src/contract/telemetry/index.ts';

export const limits: QueryLimits = { maxRows: 1_000, maxBytes: 1_000_000, maxCellBytes: 16_384, timeoutMs: 20_000 };

export interface AskOptions extends StatementBinding {
  readonly limits?: Partial<QueryLimits>;
  readonly signal?: AbortSignal;
}

/** The whole way of a query: parse, check, render, open, read. */
export async function ask(telemetry: Telemetry, organizationId: OrganizationId, sql: string, options: AskOptions = {}) {
  return await collect(await openQuery(telemetry, organizationId, sql, options));
}

export async function openQuery(
  telemetry: Telemetry,
  organizationId: OrganizationId,
  sql: string,
  options: AskOptions = {},
): Promise<Cursor> {
  const { signal = new AbortController().signal, limits: own, ...binding } = options;
  const context = { organizationId, signal };
  const checked = telemetry.check(await telemetry.parse(sql, context));
  return await telemetry.open(await telemetry.render(checked, binding, context), { ...limits, ...own }, context);
}

/** Past the gate: the SQL goes to the server as it is. */
export async function askBare(telemetry: Telemetry, organizationId: OrganizationId, sql: string) {
  const context = { organizationId, signal: new AbortController().signal };
  return await collect(await telemetry.open(sql, limits, context));
}

export async function collect(cursor: Cursor) {
  const parts: string[] = [];
  for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) {
    parts.push(Buffer.from(chunk.json).toString('utf8'));
  }
  await cursor.close();
  const text = `[${parts.join(',')}]`;
  const rows: readonly (readonly unknown[])[] = JSON.parse(text);
  return { columns: cursor.columns, rows, end: cursor.end, text };
}
