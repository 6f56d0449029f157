import { alertRules } from '../../../../src/contract/storage/index.ts';
import type { IncidentId } from '../../../../src/contract/core/index.ts';
import type {
  AlertDelivery,
  AlertRepository,
  IncidentAlerts,
  RecordedAlerts,
} from '../../../../src/contract/storage/index.ts';
import { integer } from '../../columns.ts';
import type { ScopedDatabase } from '../../database.ts';
import { alertsJson } from '../../json.ts';
import type { Scope } from '../../scope.ts';
import { toAlert } from './alert-rows.ts';
import { takeAlerts } from './take-alerts.ts';

export class Alerts implements AlertRepository {
  readonly #database: ScopedDatabase;
  readonly #now: () => Date;

  constructor(database: ScopedDatabase, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  record(deliveries: readonly AlertDelivery[], engine: string): Promise<RecordedAlerts> {
    return this.#database.write((scope) => takeAlerts(scope, deliveries, engine, this.#now()));
  }

  ofIncident(id: IncidentId): Promise<IncidentAlerts> {
    return this.#database.read(async (scope) => {
      const row = await scope.from('incidents').where({ id }).first('alerts');
      const made = row === undefined ? [] : alertsJson.read(row.alerts);
      // In the order of the alphabet, what fires stands before what is resolved.
      const received = await scope
        .from('alerts')
        .where({ incident_id: id })
        .orderBy(['status', 'position'].map((column) => ({ column })))
        .limit(alertRules.listed);
      const all = [...made, ...received.map(toAlert)];
      const isActive = ({ status }: { readonly status: string }): boolean => status !== 'resolved';
      return {
        listed: [...all.filter(isActive), ...all.filter((alert) => !isActive(alert))].slice(0, alertRules.listed),
        total: made.length + (await count(scope, id, ['acknowledged', 'firing', 'resolved'])),
        active: made.filter(isActive).length + (await count(scope, id, ['acknowledged', 'firing'])),
      };
    });
  }
}

async function count(scope: Scope, id: IncidentId, statuses: readonly string[]): Promise<number> {
  const [counted] = await scope
    .from('alerts')
    .where({ incident_id: id })
    .whereIn('status', [...statuses])
    .count({ alerts: '*' });
  return integer(counted?.['alerts'] ?? 0);
}
