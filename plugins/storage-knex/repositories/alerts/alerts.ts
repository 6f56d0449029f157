import type { IncidentId } from '../../../../src/contract/core/index.ts';
import {
  alertRules,
  type AlertDelivery,
  type AlertRepository,
  type IncidentAlerts,
  type RecordedAlerts,
} from '../../../../src/contract/storage/index.ts';
import { OrganizationRepository } from '../repository.ts';
import { countOf } from '../../columns.ts';
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
      const kept = () => scope.from('alerts').where({ incident_id: id });
      const received = await kept()
        .orderBy(['status', 'position'].map((column) => ({ column })))
        .limit(alertRules.listed);
      const all = [...made, ...received.map(toAlert)];
      const isActive = ({ status }: { readonly status: string }): boolean => status !== 'resolved';
      return {
        listed: [...all.filter(isActive), ...all.filter((alert) => !isActive(alert))].slice(0, alertRules.listed),
        total: made.length + (await countOf(kept())),
        active: made.filter(isActive).length + (await countOf(kept().whereNot({ status: 'resolved' }))),
      };
    });
  }
}
