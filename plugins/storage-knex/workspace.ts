import {
  SightlineError,
  toId,
  type OrganizationId,
  type IngestTokenId,
  type IncidentId,
} from '../../src/contract/core/index.ts';
import {
  alertRules,
  type Workspace,
  type IngestToken,
  type IngestTokenRepository,
  type NewIngestToken,
  type ScanRepository,
  type AlertDelivery,
  type AlertRepository,
  type IncidentAlerts,
  type RecordedAlerts,
} from '../../src/contract/storage/index.ts';
import { AlertSources } from './repositories/alerts/alert-sources.ts';
import { Audit } from './repositories/audit.ts';
import { Chats } from './repositories/chats.ts';
import { Grants } from './repositories/grants.ts';
import { Incidents } from './repositories/incidents.ts';
import { Investigations } from './repositories/investigations.ts';
import { Invitations } from './repositories/invitations.ts';
import { KeptResults } from './repositories/kept-results.ts';
import { Keys } from './repositories/keys.ts';
import { Members } from './repositories/members.ts';
import { Retention } from './repositories/retention.ts';
import { Webhooks } from './repositories/webhooks.ts';
import { OrganizationRepository, type OrganizationParts } from './repositories/repository.ts';
import { date, integer } from './columns.ts';
import type { Scope } from './scope.ts';
import { alertsJson } from './json.ts';
import { toAlert } from './repositories/alerts/alert-rows.ts';
import { takeAlerts } from './repositories/alerts/take-alerts.ts';

class Alerts extends OrganizationRepository implements AlertRepository {
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

const most = Number.MAX_SAFE_INTEGER;

class Scans extends OrganizationRepository implements ScanRepository {
  async add(day: string, bytes: number): Promise<number> {
    checkDay(day);
    if (!Number.isSafeInteger(bytes)) {
      throw new SightlineError('invalid_argument', 'A number of bytes must be an integer.');
    }
    return this.database.write(async (scope) => {
      await scope.upsert('scan_usage', { day, bytes: 0 }, ['organization_id', 'day'], ['day']);
      // One statement on the row itself, so that what others add at the same time is not lost.
      const sum =
        bytes < 0
          ? scope.raw('CASE WHEN bytes < ? THEN 0 ELSE bytes - ? END', [-bytes, -bytes])
          : scope.raw('CASE WHEN bytes > ? THEN ? ELSE bytes + ? END', [most - bytes, most, bytes]);
      await scope.from('scan_usage').where({ day }).update({ bytes: sum });
      return totalOf(scope, day);
    });
  }

  async total(day: string): Promise<number> {
    checkDay(day);
    return this.database.read((scope) => totalOf(scope, day));
  }
}

async function totalOf(scope: Scope, day: string): Promise<number> {
  const row = await scope.from('scan_usage').where({ day }).first('bytes');
  return integer(row?.bytes ?? 0);
}

function checkDay(day: string): void {
  if (/^\d{4}-\d{2}-\d{2}$/.test(day)) return;
  throw new SightlineError('invalid_argument', 'A day is written as 2026-01-31.');
}

class IngestTokens extends OrganizationRepository implements IngestTokenRepository {
  create({ id, hash, sealed }: NewIngestToken): Promise<void> {
    return this.database.write(
      async (scope) => {
        const position = await scope.next('ingest_token');
        await scope.insert('ingest_tokens', { id, hash, sealed, position, created_at: this.now().getTime() });
      },
      { duplicate: new SightlineError('conflict', 'An ingest token with this id or hash exists already.') },
    );
  }

  current(): Promise<IngestToken | undefined> {
    return this.database.read(async (scope) => {
      const row = await scope.from('ingest_tokens').orderBy('position', 'desc').first();
      if (row === undefined) return undefined;
      return { id: toId('it', row.id), hash: row.hash, sealed: row.sealed, createdAt: date(row.created_at) };
    });
  }

  revoke(id: IngestTokenId): Promise<boolean> {
    return this.some((scope) => scope.from('ingest_tokens').where({ id }).delete());
  }
}

/** The only place that makes an organization's repositories. Each is made on access: they hold no state. */
export class KnexWorkspace implements Workspace {
  readonly #parts: OrganizationParts;

  constructor(parts: OrganizationParts) {
    this.#parts = parts;
  }

  get organizationId(): OrganizationId {
    return this.#parts.database.organizationId;
  }

  get keys(): Keys {
    return new Keys(this.#parts);
  }

  get members(): Members {
    return new Members(this.#parts);
  }

  get invitations(): Invitations {
    return new Invitations(this.#parts);
  }

  get grants(): Grants {
    return new Grants(this.#parts);
  }

  get ingestTokens(): IngestTokens {
    return new IngestTokens(this.#parts);
  }

  get alertSources(): AlertSources {
    return new AlertSources(this.#parts);
  }

  get alerts(): Alerts {
    return new Alerts(this.#parts);
  }

  get incidents(): Incidents {
    return new Incidents(this.#parts);
  }

  get investigations(): Investigations {
    return new Investigations(this.#parts);
  }

  get chats(): Chats {
    return new Chats(this.#parts);
  }

  get audit(): Audit {
    return new Audit(this.#parts);
  }

  get scans(): Scans {
    return new Scans(this.#parts);
  }

  get keptResults(): KeptResults {
    return new KeptResults(this.#parts);
  }

  get retention(): Retention {
    return new Retention(this.#parts);
  }

  get webhooks(): Webhooks {
    return new Webhooks(this.#parts);
  }
}
