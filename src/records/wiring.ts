import type { Logger, OrganizationId } from '../contract/core/index.ts';
import type { Storage } from '../contract/storage/index.ts';
import type { Telemetry } from '../contract/telemetry/index.ts';
import { createAuditWriter, type AuditWriter } from './audit/writer.ts';
import { createRetention, type Keep, type Retention } from './retention.ts';

export interface RecordsParts {
  readonly audit: AuditWriter;
  readonly retention: Retention;
}

interface RecordsCradle extends RecordsParts {
  readonly foundation: {
    readonly logger: Logger;
    readonly now: () => Date;
    readonly config: { readonly retention: Readonly<Record<keyof Keep, number | 'forever'>> };
  };
  readonly storage: Storage;
  readonly telemetry: Pick<Telemetry, 'forget' | 'sink'>;
  readonly receiver: { forget(id: OrganizationId): Promise<void> };
}

type Wiring = { readonly [Part in keyof RecordsParts]: (cradle: RecordsCradle) => RecordsParts[Part] };

/** How the parts of this domain are made. */
export const recordsWiring: Wiring = {
  audit: ({ storage, foundation: { logger } }) => createAuditWriter({ storage, logger }),
  retention: ({ storage, telemetry, receiver, foundation }) =>
    createRetention({
      storage,
      async forget(id, signal) {
        await receiver.forget(id);
        await (telemetry.forget?.(id) ?? telemetry.sink?.retain(id, endOfTime, signal));
      },
      newest: async (id, signal) => telemetry.sink?.newest?.(id, signal),
      keep() {
        const { auditDays, chatDays, incidentDays } = foundation.config.retention;
        return { auditDays: finite(auditDays), chatDays: finite(chatDays), incidentDays: finite(incidentDays) };
      },
      now: foundation.now,
      logger: foundation.logger,
    }),
};

/** Later than any row. */
const endOfTime = new Date('9999-12-31T00:00:00Z');

function finite(days: number | 'forever'): number | undefined {
  return days === 'forever' ? undefined : days;
}
