import { hash } from 'node:crypto';
import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { alertKey, alertLine, alertParagraphs } from '../storage/alerts.ts';
import type { Severity } from '../storage/incident.ts';
import type { AlertNotice } from './alerts.ts';

/** Labels as they come. Of their values texts, numbers and booleans count; a schema for each would walk a stranger's 100,000. */
export const alertLabelsSchema = z.custom<Labels>(isObject, 'expected an object of texts');

/** OpenTelemetry's names for the environment, as they are and as Prometheus writes them, then what people write. */
export const environmentLabels = [
  'deployment.environment.name',
  'deployment_environment_name',
  'deployment.environment',
  'deployment_environment',
  'environment',
  'env',
] as const;

/** The title of a notice that has none: it may name an alert by its fingerprint alone. */
export const untitledAlert = 'Alert without a title';

const hour = 3_600_000;

const oldest = 10 * 365 * 24 * hour;

const words: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ...named('critical', 'critical crit page fatal emergency emerg disaster blocker'),
  ...named('high', 'high major error err severe'),
  ...named('medium', 'medium moderate average warning warn minor'),
  ...named('low', 'low info informational information notice debug'),
]);

const levels: readonly Severity[] = ['critical', 'critical', 'high', 'medium', 'low', 'low'];

/** A notice before its bounds: texts as they came. What is blank counts as not given. */
export interface AlertDraft {
  readonly fingerprint: string;
  readonly status: AlertNotice['status'];
  readonly title: string;
  readonly description?: string | null | undefined;
  readonly severity: AlertNotice['severity'];
  readonly startsAt?: Date | undefined;
  readonly endsAt?: Date | undefined;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly group?: string | null | undefined;
  readonly services?: readonly string[] | undefined;
  readonly environment?: string | null | undefined;
  /** The first that is http or https counts. */
  readonly urls?: readonly (string | null | undefined)[];
}

/**
 * The draft within a notice's bounds. A start that is not known or cannot be meant is the end, or else `now`; only a resolved
 * alert has an end, which is `now` where it is not known and never before the start.
 */
export function alertNotice(draft: AlertDraft, now: Date): AlertNotice {
  const description = alertParagraphs(draft.description ?? '', 5_000);
  const environment = alertLine(draft.environment ?? '', 200);
  const url = draft.urls?.map(webAddress).find((address) => address !== undefined);
  return {
    fingerprint: alertKey(draft.fingerprint),
    status: draft.status,
    title: alertLine(draft.title, 300) || untitledAlert,
    ...(description === '' ? {} : { description }),
    severity: draft.severity,
    ...times(draft, now),
    labels: boundedLabels(draft.labels),
    ...(draft.group ? { group: alertKey(draft.group) } : {}),
    services: boundedNames(draft.services ?? []),
    ...(environment === '' ? {} : { environment }),
    ...(url === undefined ? {} : { url }),
  };
}

function times({ status, ...draft }: AlertDraft, now: Date): Pick<AlertNotice, 'startsAt' | 'endsAt'> {
  const ended = plausibleTime(draft.endsAt, now);
  const startsAt = plausibleTime(draft.startsAt, now) ?? ended ?? now;
  if (status !== 'resolved') return { startsAt };
  return { startsAt, endsAt: new Date(Math.max(startsAt.getTime(), (ended ?? now).getTime())) };
}

/** At most 20 different names of at most 200 characters. */
function boundedNames(names: readonly string[]): readonly string[] {
  const kept = new Set<string>();
  for (const name of names) {
    if (kept.size === 20) break;
    const line = alertLine(name, 200);
    if (line !== '') kept.add(line);
  }
  return [...kept];
}

/** The normalized address; undefined if it holds a password, which must not be shown. */
function webAddress(text: string | null | undefined): string | undefined {
  if (!text || text.length > 2_000) return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return url.href.length <= 2_000 ? url.href : undefined;
}

/** What a sender's word for a severity or priority means: `P1`, `SEV-2`, `2`, `sev 3: minor`, `Critical`. All else is `unknown`. */
export function severityOf(word: string | null | undefined): Severity {
  const plain = (word ?? '').slice(0, 100).trim().toLowerCase();
  const level = /^(?:(?:p|prio|priority|s|sev|severity)[\s_-]?([0-5])\b|([0-5])$)/.exec(plain);
  return (level === null ? words.get(plain) : levels[Number(level[1] ?? level[2])]) ?? 'unknown';
}

function named(severity: Severity, names: string): readonly (readonly [string, Severity])[] {
  return names.split(' ').map((name) => [name, severity] as const);
}

/**
 * A time as senders write it: RFC 3339, with a space for the `T` or without a zone (then UTC) too, or seconds, milli-, micro- or
 * nanoseconds since 1970. Undefined for anything else.
 */
export function alertTime(text: string | null | undefined): Date | undefined {
  const written = text?.trim() ?? '';
  const [digits = ''] = /^\d{9,19}(?=(?:\.\d{1,9})?$)/.exec(written) ?? [];
  // Nine or ten digits are seconds from 1973 to 2286; each further three a thousandth.
  if (digits !== '') return new Date(Number(written) * 1_000 ** (1 - Math.max(0, Math.ceil((digits.length - 11) / 3))));
  const parts = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,12})? ?(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(written);
  if (parts === null) return undefined;
  const [, date, clock, fraction = '', zone = 'Z'] = parts;
  const offset = zone.toUpperCase() === 'UTC' ? 'Z' : zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const time = new Date(`${date}T${clock}${fraction}${offset}`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Undefined where it cannot be meant: older than ten years (Go's zero time is of the year 1), or more than an hour ahead. */
function plausibleTime(time: Date | undefined, now: Date): Date | undefined {
  const age = time && now.getTime() - time.getTime();
  return age !== undefined && age <= oldest && age >= -hour ? time : undefined;
}

type Labels = Readonly<Record<string, unknown>>;

/** The first 64 labels, their names at most 100 characters and their values at most 500. */
function boundedLabels(labels: Labels): Record<string, string> {
  const kept = new Map<string, string>();
  for (const name of Object.keys(labels)) {
    if (kept.size === 64) break;
    const value = scalar(labels[name]);
    const key = alertLine(name, 100);
    if (value === undefined || key === '' || key === '__proto__' || kept.has(key)) continue;
    kept.set(key, alertLine(value, 500));
  }
  return Object.fromEntries(kept);
}

/** The fingerprint of an alert whose sender gives none: of what names it and of all its labels, in whatever order they come. */
export function fingerprintOf(names: readonly string[], labels: Labels): string {
  const pairs = Object.keys(labels)
    .toSorted()
    .flatMap((name) => {
      const value = scalar(labels[name]);
      return value === undefined ? [] : [[name, value]];
    });
  return hash('sha256', JSON.stringify([names, pairs]), 'hex');
}

/** The first of these labels that says something. */
export function firstLabel(labels: Labels, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(labels, name) ? scalar(labels[name]) : undefined;
    if (value !== undefined && value.trim() !== '') return value;
  }
  return undefined;
}

function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
