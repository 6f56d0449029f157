import { tableNames } from '../../../contract/telemetry/index.ts';
import type { Organization } from '../../../contract/storage/index.ts';
import type { TableName, Telemetry, TelemetrySink } from '../../../contract/telemetry/index.ts';
import { Source } from './source.ts';
import { copyTable } from './table.ts';

export interface TelemetryCopy {
  /** Started, and at rest: nobody loads into it or deletes from it. */
  readonly source: Telemetry;
  readonly target: TelemetrySink;
  readonly organization: Pick<Organization, 'id'>;
  /** Names of the organization's ingest logs, of which the source has loaded a part. */
  readonly logs: readonly string[];
  readonly signal: AbortSignal;
  /** 0 to 1, of one table. */
  readonly onProgress?: (table: TableName, fraction: number) => void;
}

/**
 * Copies an organization's telemetry into the warehouse behind the sink, whose own words tell how far it came: run again
 * it goes on there, and copies nothing twice. Answers the rows by table.
 */
export async function copyTelemetry(copy: TelemetryCopy): Promise<Readonly<Record<TableName, number>>> {
  const { source, target, organization, logs, signal, onProgress } = copy;
  const organizationId = organization.id;
  const reading = new Source(source, organizationId, signal);
  // What the source has of a log, the target gets here; the gateway that goes on with the log loads the rest.
  for (const log of logs) {
    const upTo = await source.sink?.committed(organizationId, log);
    if (upTo !== undefined) await target.load({ organizationId, log, batches: [], upTo }, signal);
  }
  const rows: Record<TableName, number> = { spans: 0, metrics: 0, logs: 0 };
  for (const table of tableNames) {
    rows[table] = await copyTable({
      organizationId,
      source: reading,
      target,
      table,
      signal,
      onProgress: (done, all) => onProgress?.(table, all === 0 ? 1 : done / all),
    });
  }
  return rows;
}
