import type { Operation, OrganizationId } from '../../contract/core/index.ts';
import type { QueryLimits, StatementLabel } from '../../contract/telemetry/index.ts';
import type { Reader } from './governance.ts';
import type { TimeBounds } from './window.ts';

export interface QueryRequest {
  readonly organizationId: OrganizationId;
  readonly sql: string;
  /** Who will read the rows: decides what of them may be read. */
  readonly reader: Reader;
  /** Sent to the warehouse with the statement. */
  readonly label: StatementLabel;
  readonly window?: TimeBounds | undefined;
  readonly limits?: Partial<QueryLimits>;
  /** Reads on behind what is returned, ten times as far and for a second at most, so that it can be kept. */
  readonly readAhead?: boolean;
  readonly signal: AbortSignal;
  /** Under which a failure's true cause is logged. */
  readonly requestId?: string;
  /** Under which it is recorded. */
  readonly operation?: Operation | undefined;
}
