import type { Host } from '../../contract/core/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import type { TelemetryHost } from '../../contract/telemetry/index.ts';
import { sqlGates } from '../../telemetry/gate/index.ts';
import { sqlHelpers } from '../../telemetry/query/helpers.ts';
import { mappingHelpers } from '../../telemetry/mapping/mapping.ts';
import { valueHelpers } from '../../telemetry/mapping/propose.ts';
import { createTenancy } from '../../telemetry/mapping/tenancy.ts';

export function telemetryHost(host: Host, directory: Pick<Directory, 'findOrganization'>): TelemetryHost {
  return {
    ...host,
    sql: sqlHelpers,
    mapping: mappingHelpers,
    values: valueHelpers,
    tenancy: createTenancy(directory),
    gates: sqlGates,
  };
}
