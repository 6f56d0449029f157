import type { AlertNotice } from '../../../../src/contract/alerts/index.ts';
import { foldCase, type IncidentId } from '../../../../src/contract/core/index.ts';
import { alertRules, type AlertSource } from '../../../../src/contract/storage/index.ts';
import { countOf, sha256 } from '../../columns.ts';
import type { Scope } from '../../scope.ts';

/** What a sender calls a group is its own. */
export function senderGroup(source: Pick<AlertSource, 'id'>, group: string): string {
  return sha256(JSON.stringify(['group', source.id, group]));
}

/** Alerts of the same services in the same environment, from any sender. */
export function servicesGroup(services: readonly string[], environment: string): string {
  const names = new Set(services.map(foldCase));
  return sha256(JSON.stringify(['services', foldCase(environment), ...[...names].toSorted()]));
}

/**
 * What alerts have in common beside a sender's group. Those that name neither service nor group say the same: a full disk of
 * many hosts is one matter, and a late backup is another.
 */
export function commonGroup(source: Pick<AlertSource, 'id'>, notice: AlertNotice): string | undefined {
  const { services, environment = '', title } = notice;
  if (services.length > 0) return servicesGroup(services, environment);
  if (notice.group !== undefined) return undefined;
  return sha256(JSON.stringify(['title', source.id, foldCase(environment), title]));
}

/** Alerts of this group look for the incident from now on. */
export function joinGroup(scope: Scope, group: string, incident: IncidentId, now: Date): Promise<void> {
  return scope.insertIfAbsent('alert_groups', { group_hash: group, incident_id: incident, since: now.getTime() }, [
    'organization_id',
    'group_hash',
    'incident_id',
  ]);
}

/** The groups that the alerts of one transaction belong to, and the incident that each joined. */
export class Groups {
  readonly #scope: Scope;
  readonly #now: Date;
  readonly #joined = new Map<string, IncidentId>();
  /** How many lead to an incident. */
  readonly #counts = new Map<IncidentId, number>();

  constructor(scope: Scope, now: Date) {
    this.#scope = scope;
    this.#now = now;
  }

  joined(group: string): IncidentId | undefined {
    return this.#joined.get(group);
  }

  async join(group: string, id: IncidentId): Promise<void> {
    if (this.#joined.get(group) === id) return;
    this.#joined.set(group, id);
    const kept = this.#scope.from('alert_groups').where({ incident_id: id });
    const count = this.#counts.get(id) ?? (await countOf(kept));
    if (count >= alertRules.groups) return;
    await joinGroup(this.#scope, group, id, this.#now);
    this.#counts.set(id, count + 1);
  }
}
