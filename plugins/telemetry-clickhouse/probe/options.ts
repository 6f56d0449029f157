import type { Tenancy, Tenant } from '../../../src/contract/telemetry/index.ts';
import type { ServerBoundary } from '../setup/access.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';
import type { Send } from './attempt.ts';

export interface ProbeOptions {
  readonly send: Send;
  readonly boundary: Tenancy['boundary'];
  readonly server: ServerBoundary;
  readonly isolation: 'layered' | 'degraded';
  readonly json: ReadonlySet<string>;
  /** Those that are known, two at least where there are two. */
  readonly tenants: readonly Tenant[];
  /** Of a mapping whose `{tenant}` is this one's; the same for all where tenants share tables. */
  tables(tenant: Tenant | undefined): Promise<readonly PhysicalTable[]>;
}
