import type { Directory, Host, TelemetryHost } from '../contract/index.ts';
import { sqlGates } from '../gate/index.ts';
import { sqlHelpers } from '../sql/helpers.ts';
import { mappingHelpers } from '../warehouse/mapping.ts';
import { createTenancy } from '../warehouse/tenancy.ts';

/** What a telemetry plugin is given. */
export function telemetryHost(host: Host, directory: Pick<Directory, 'findOrganization'>): TelemetryHost {
  return { ...host, sql: sqlHelpers, mapping: mappingHelpers, tenancy: createTenancy(directory), gates: sqlGates };
}
