import { hash } from 'node:crypto';
import type { AlertSourceId, OrganizationId, IncidentId } from '../core/ids.ts';
import type { AlertNotice } from '../alerts/alerts.ts';
import type { Alert } from './incident.ts';

// Unpaired surrogates, which PostgreSQL refuses, are replaced by toWellFormed; marks that turn the direction of a text could
// show it as another.
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const breaks = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
const controls = /(?![\n\t])\p{Cc}/gu;

/** A stranger's text in one line: no control characters, at most `longest` UTF-16 units, a cut one ends with `…`. */
export function alertLine(text: string, longest: number): string {
  return cut(read(text, longest).replaceAll(breaks, ' ').trim(), longest);
}

/** The same for a text of several lines. */
export function alertParagraphs(text: string, longest: number): string {
  return cut(
    read(text, longest)
      .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
      .replaceAll(controls, '')
      .trim(),
    longest,
  );
}

/** What a sender tells its alerts apart by, as it is where it is short and plain; else its SHA-256, never a part of it. */
export function alertKey(text: string): string {
  return text !== '' && alertLine(text, 200) === text ? text : hash('sha256', text, 'hex');
}

/** So much of the text as can matter: a huge one costs no more than a long one. */
function read(text: string, longest: number): string {
  return text
    .slice(0, longest * 4)
    .toWellFormed()
    .replaceAll(directions, '');
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${text.slice(0, longest - 1).replace(/[\u{D800}-\u{DBFF}]$/u, '')}…`;
}

/** Somebody who sends alerts to an organization, at an address of their own. */
export interface AlertSource {
  readonly id: AlertSourceId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** The name of the alert plugin that understands what is sent. */
  readonly plugin: string;
  /** The secret, sealed by the vault under context `alert-source:<id>`. */
  readonly sealed: string;
  readonly createdAt: Date;
  readonly createdBy: string;
}

export type NewAlertSource = Pick<AlertSource, 'id' | 'name' | 'plugin' | 'sealed' | 'createdBy'>;

export interface AlertSourceRepository {
  /** `conflict` where the organization has a source of this name (compared without case), or as many as it may have. */
  create(input: NewAlertSource): Promise<AlertSource>;
  /** Oldest first. */
  list(): Promise<readonly AlertSource[]>;
  /** False when the organization has no such source. */
  replaceSecret(id: AlertSourceId, sealed: string): Promise<boolean>;
  /** Its alerts stay where they are. False when there was none. */
  remove(id: AlertSourceId): Promise<boolean>;
}

/** What a source sent at once. */
export interface AlertDelivery {
  readonly source: Pick<AlertSource, 'id' | 'name'>;
  /** In processing order. */
  readonly notices: readonly AlertNotice[];
}

export interface RecordedAlerts {
  /** Keys of the incidents that were opened. */
  readonly opened: readonly string[];
  readonly reopened: readonly string[];
  readonly resolved: readonly string[];
  /** How many investigations were queued. */
  readonly queued: number;
}

/**
 * The alerts of an organization, and what becomes of its incidents by them.
 *
 * An alert is known by its source and fingerprint. One that begins to fire joins an incident: the one it was in before, else
 * one of the same group of the same source, else one of the same services and environment (where it names neither a service
 * nor a group: of the same source, title and environment) that was opened within `alertRules.windowMs`. Incidents that are open are joined, and such as were resolved less than `alertRules.holdMs` ago, which
 * are reopened. Otherwise it opens one, and queues an investigation of it. When the last alert of an incident that alerts
 * opened is resolved, so is the incident, unless a person was the last to set its status.
 */
export interface AlertRepository {
  /**
   * In one transaction. What was recorded before changes nothing; nor does what comes too late: a start or an end of an alert
   * that has since ended or begun again. Severity of incidents is only raised.
   */
  record(deliveries: readonly AlertDelivery[], engine: string): Promise<RecordedAlerts>;
  /** Those that an incident was made with and those that came in: the ones that fire first, each in the order of coming. */
  ofIncident(id: IncidentId): Promise<IncidentAlerts>;
}

export interface IncidentAlerts {
  /** At most `alertRules.listed`. */
  readonly listed: readonly Alert[];
  readonly total: number;
  /** Not resolved. */
  readonly active: number;
}

export const alertRules = {
  /** How long alerts of the same services and environment join an incident, from its opening. */
  windowMs: 30 * 60_000,
  /** How long an incident that was resolved is reopened by alerts, instead of a new one being opened. */
  holdMs: 15 * 60_000,
  /** Of the incidents that one source's alerts came into within the window; what comes beyond joins the newest of them that is open. */
  incidents: 50,
  /** Investigations of incidents that wait or run; an incident that is opened beyond waits for a person. */
  investigations: 20,
  /** How long the end of an alert is kept that never began here. */
  strayMs: 24 * 3_600_000,
  listed: 200,
  /** Of one incident; beyond, the first stays and the oldest go, those that are resolved before those that fire. */
  kept: 5_000,
  /** Groups by which alerts find one incident; those that come beyond find it by their services alone. */
  groups: 1_000,
} as const;
