import type { IncidentId } from '../../../../src/contract/core/index.ts';
import {
  alertRules,
  type AlertDelivery,
  type AlertRepository,
  type IncidentAlerts,
  type RecordedAlerts,
} from '../../../../src/contract/storage/index.ts';
import { OrganizationRepository } from '../repository.ts';
import { integer } from '../../columns.ts';
import type { Scope } from '../../scope.ts';
import { alertsJson } from '../../json.ts';
import { toAlert } from './alert-rows.ts';
import { takeAlerts } from './take-alerts.ts';

export class Alerts extends OrganizationRepository implements AlertRepository {
  record(deliveries: readonly AlertDelivery[], engine: string): Promise<RecordedAlerts> {
    return this.database.write((scope) => takeAlerts(scope, deliveries, engine, this.now()));
  }

  ofIncident(id: IncidentId): Promise<IncidentAlerts> {
    return this.database.read(async (scope) => {
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
