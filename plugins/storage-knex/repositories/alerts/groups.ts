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

/** Alerts that name no service have only their sender in common. */
export function sourceGroup(source: Pick<AlertSource, 'id'>, environment: string): string {
  return sha256(JSON.stringify(['source', source.id, foldCase(environment)]));
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
