import { toId } from '../../../../src/contract/core/index.ts';
import type { AlertNotice } from '../../../../src/contract/alerts/index.ts';
import type { AlertSourceId, IncidentId } from '../../../../src/contract/core/index.ts';
import type { Actor, Alert, AlertSource } from '../../../../src/contract/storage/index.ts';
import { alertStatusColumn, date, integer, optional, severityColumn, sha256 } from '../../columns.ts';
import { labelsJson } from '../../json.ts';
import type { AlertRow } from '../../rows.ts';

/** An alert as it is kept: one firing of it, and how that ended. */
export interface KeptAlert extends Alert {
  readonly position: number;
  readonly sourceId: AlertSourceId;
  /** Of source and fingerprint; absent in what is history. */
  readonly key?: string;
  /** Absent where an end came of what never began here. */
  readonly incidentId?: IncidentId;
  readonly updatedAt: Date;
}

export function alertKey(source: Pick<AlertSource, 'id'>, { fingerprint }: AlertNotice): string {
  return sha256(`${source.id} ${fingerprint}`);
}

/** Who changes an incident when an alert does. */
export function sourceActor({ id, name }: Pick<AlertSource, 'id' | 'name'>): Actor {
  return { kind: 'alert', id, name };
}

export const alertColumns = [
  'position',
  'source_id',
  'key_hash',
  'incident_id',
  'fingerprint',
  'title',
  'description',
  'status',
  'severity',
  'labels',
  'url',
  'starts_at',
  'ends_at',
  'updated_at',
] as const satisfies readonly (keyof AlertRow)[];

/** Values of `alertColumns`. */
export function toAlertValues(alert: KeptAlert): readonly (string | number | null)[] {
  return [
    alert.position,
    alert.sourceId,
    alert.key ?? null,
    alert.incidentId ?? null,
    alert.fingerprint,
    alert.title,
    alert.description ?? '',
    alert.status,
    alert.severity,
    labelsJson.write(alert.labels),
    alert.url ?? null,
    alert.startsAt.getTime(),
    alert.endsAt?.getTime() ?? null,
    alert.updatedAt.getTime(),
  ];
}

export function toKeptAlert(row: AlertRow): KeptAlert {
  return {
    position: integer(row.position),
    sourceId: toId('als', row.source_id),
    ...optional('key', row.key_hash, String),
    ...optional('incidentId', row.incident_id, (id) => toId('inc', id)),
    ...toAlert(row),
    updatedAt: date(row.updated_at),
  };
}

export function toAlert(row: AlertRow): Alert {
  return {
    fingerprint: row.fingerprint,
    title: row.title,
    ...(row.description === '' ? {} : { description: row.description }),
    status: alertStatusColumn.parse(row.status),
    severity: severityColumn.parse(row.severity),
    startsAt: date(row.starts_at),
    ...optional('endsAt', row.ends_at, date),
    labels: labelsJson.read(row.labels),
    ...optional('url', row.url, String),
  };
}
