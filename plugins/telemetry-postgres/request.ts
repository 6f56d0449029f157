import type { QueryLimits, StatementLabel } from '../../src/contract/telemetry/index.ts';
import type { Connections } from './connections.ts';
import type { KnownSmall } from './known-small.ts';
import type { Step } from './wire/packets.ts';

export interface QueryRequest {
  readonly connections: Connections;
  readonly tenant: string;
  readonly before: readonly Step[];
  readonly text: string;
  /** Who asks: sent before the statement. */
  readonly label: StatementLabel | undefined;
  readonly after: readonly Step[];
  readonly small: KnownSmall;
  readonly limits: QueryLimits;
  readonly signal: AbortSignal;
  readonly explain: (error: unknown, sent: string) => unknown;
}
