import type { AlertNotice } from './alerts.ts';
import { boundedLabels } from './alert-labels.ts';
import { alertKey, alertLine, alertParagraphs } from './alert-text.ts';
import { plausibleTime } from './alert-time.ts';

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
    title: alertLine(draft.title, 300) || 'Alert without a title',
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

/** The address as the standard writes it. One with a password in it is nobody's to show. */
function webAddress(text: string | null | undefined): string | undefined {
  if (!text || text.length > 2_000) return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  return url.href.length <= 2_000 ? url.href : undefined;
}
