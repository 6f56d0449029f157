import { hash } from 'node:crypto';
import type { AlertSourceId, OrganizationId } from '../core/ids.ts';

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
