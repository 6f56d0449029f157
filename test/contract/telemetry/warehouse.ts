import type { OrganizationId } from '../../../src/contract/core/index.ts';
import type {
  Cursor,
  QueryLimits,
  ResultColumn,
  StatementBinding,
  StatementContext,
  StatementLabel,
  TableName,
  Telemetry,
} from '../../../src/contract/telemetry/index.ts';
import type { ComponentUnderTest } from '../lifecycle.ts';
import { batch, type Row } from '../telemetry-rows.ts';

/** A telemetry plugin on a warehouse of its own. */
export interface WarehouseUnderTest extends ComponentUnderTest {
  readonly component: Telemetry;
  /** Two organizations of the same warehouse, both empty. */
  readonly organizations: readonly [OrganizationId, OrganizationId];
  /** Puts rows there where the plugin has no sink; they must be found by the next query. */
  write?(organizationId: OrganizationId, table: TableName, rows: readonly Row[]): Promise<void>;
}

export const testLimits: QueryLimits = {
  maxRows: 1_000,
  maxBytes: 1_000_000,
  maxCellBytes: 16_384,
  timeoutMs: 20_000,
};

let offset = 0;

/** By the plugin's own way, else by the test's. */
export async function writeRows(
  subject: WarehouseUnderTest,
  organizationId: OrganizationId,
  table: TableName,
  rows: readonly Row[],
): Promise<void> {
  if (subject.write) return await subject.write(organizationId, table, rows);
  const { sink } = subject.component;
  if (!sink) throw new Error('a plugin without a sink needs `write` in its contract test');
  offset += 1;
  const load = { organizationId, log: 'contract', batches: [batch(table, rows)], upTo: { segment: 1, offset } };
  await sink.load(load, new AbortController().signal);
}

export interface AskOptions extends StatementBinding {
  readonly limits?: Partial<QueryLimits>;
  readonly signal?: AbortSignal;
  readonly label?: StatementLabel;
}

export interface Answer {
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: 'rows' | 'bytes' | undefined;
  readonly cutCells: number;
  readonly bytes: number;
  /** As it came: row arrays joined by commas. */
  readonly text: string;
}

/** The whole way of a statement: parse, check, render, open, all rows. */
export async function ask(
  telemetry: Telemetry,
  organizationId: OrganizationId,
  sql: string,
  options: AskOptions = {},
): Promise<Answer> {
  const context = contextOf(organizationId, options);
  const rendered = await renderedOf(telemetry, sql, context, options);
  return await collect(await telemetry.open(rendered, { ...testLimits, ...options.limits }, context));
}

export async function renderedOf(
  telemetry: Telemetry,
  sql: string,
  context: StatementContext,
  { window, rules }: StatementBinding = {},
): Promise<string> {
  const checked = telemetry.check(await telemetry.parse(sql, context));
  return await telemetry.render(checked, { ...(window && { window }), ...(rules && { rules }) }, context);
}

export function contextOf(
  organizationId: OrganizationId,
  options: Pick<AskOptions, 'signal' | 'label'> = {},
): StatementContext {
  const { signal = new AbortController().signal, label } = options;
  return { organizationId, signal, ...(label && { label }) };
}

export async function collect(cursor: Cursor): Promise<Answer> {
  try {
    const parts: Buffer[] = [];
    let counted = 0;
    for (let chunk = await cursor.read(); chunk; chunk = await cursor.read()) {
      parts.push(Buffer.from(chunk.json));
      counted += chunk.rows;
    }
    const text = parts.map((part) => part.toString('utf8')).join(',');
    const rows: readonly (readonly unknown[])[] = JSON.parse(`[${text}]`);
    if (rows.length !== counted) throw new Error(`${counted} rows were announced, ${rows.length} came`);
    const { truncated, cutCells = 0 } = cursor.end ?? {};
    return { columns: cursor.columns, rows, truncated, cutCells, bytes: Buffer.byteLength(text), text };
  } finally {
    await cursor.close();
  }
}
