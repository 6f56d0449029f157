import { z } from 'zod';
import {
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  severityOf,
  wrongAlert,
  type AlertNotice,
  type AlertPath,
} from '../../src/contract/alerts/index.ts';
import { isObject } from '../../src/contract/core/index.ts';
import { severities } from '../../src/contract/storage/index.ts';

const path = z.string().min(1).max(200);
const paths = z.union([path, z.array(path).min(1).max(30)]);
const words = z.record(z.string().max(100), z.enum(['firing', 'acknowledged', 'resolved', 'ignored']));

/** Where a sender's body says what an alert is. A path names members and positions, with dots: `data.issue.tags.0`. */
export const mappingSchema = z.strictObject({
  name: z.string().min(1).max(100).describe('Name of the sender, for messages'),
  has: z.array(path).max(20).describe('Paths that a body must contain for the mapping to apply'),
  alerts: path.optional().describe('Path of the list of alerts; without it the body is one alert'),
  title: paths.describe('Paths of the title; for this and the following keys the first path with a value counts'),
  description: paths.optional().describe('Paths of the description'),
  status: paths.optional().describe('Paths of the status'),
  statuses: words.optional().describe('Meaning of each status of the sender; * stands for any other or none'),
  severity: paths.optional().describe('Paths of the severity'),
  severities: z
    .record(z.string().max(100), z.enum(severities))
    .optional()
    .describe('Meaning of each severity of the sender'),
  fingerprint: paths.optional().describe('Paths that together identify an alert'),
  group: paths.optional().describe('Paths of what alerts of one incident have in common'),
  starts_at: paths.optional().describe('Paths of the time at which it began'),
  ends_at: paths.optional().describe('Paths of the time at which it ended'),
  services: paths.optional().describe('Paths of services: names, lists of names or comma-separated names'),
  environment: paths.optional().describe('Paths of the environment'),
  url: paths.optional().describe('Paths of a link to the alert'),
  labels: paths.optional().describe('Paths of labels: objects, lists of pairs or of name:value, or single values'),
});

export type Mapping = z.output<typeof mappingSchema>;
type Paths = z.output<typeof paths> | undefined;
type Status = AlertNotice['status'] | 'ignored';

const knownWords = new Map<string, Status>([
  ...all('firing', 'firing fire fired alerting alert alarm in_alarm trigger triggered open opened active activated'),
  ...all('firing', 'create created new problem down failing failed fail critical error warning unresolved reopened'),
  ...all('acknowledged', 'acknowledged acknowledge ack acked investigating'),
  ...all('resolved', 'resolved resolve ok okay closed close recovered recovery normal up cleared clear inactive'),
  ...all('resolved', 'healthy fixed success successful passing completed ended archived'),
]);

/**
 * The alert that a body, or an item of it, is by the mapping; undefined where it says nothing of how an alert is. Throws
 * `invalid_argument` where there is no title.
 * @param at where the item stands in the body.
 */
export function noticeOf(item: unknown, mapping: Mapping, at: AlertPath, now: Date, warn: (warning: string) => void) {
  const told = new Set<string>();
  const remark = (name: string, what: string): void => {
    if (!told.has(name)) warn(wrongAlert([...at, name], what).message);
    told.add(name);
  };
  const leaveOut = (from: Paths, why: string): void => {
    const name = list(from).find((each) => isFilled(valueAt(item, each)));
    if (name !== undefined) remark(name, `${why}; it is left out`);
  };
  const find = (from: Paths) => {
    const found = from === undefined ? undefined : firstText(item, from);
    if (found === undefined) leaveOut(from, 'expected a text');
    return found;
  };
  const text = (from: Paths): string | undefined => find(from)?.text;
  const time = (from: Paths): Date | undefined => {
    const found = find(from);
    if (found === undefined) return undefined;
    const read = alertTime(found.text);
    if (read === undefined)
      remark(found.path, 'no time that is understood, such as 2026-03-01T12:00:00Z; it is left out');
    else if (/\d:\d\d(?:\.\d+)?$/.test(found.text) && !/[+-]\d\d:\d\d$/.test(found.text)) {
      remark(found.path, 'a time without its zone; it is read as UTC');
    }
    return read;
  };

  const title = firstText(item, mapping.title)?.text;
  if (title === undefined) throw wrongAlert([...at, first(mapping.title)], 'expected a title');
  const status = statusOf();
  if (status === 'ignored') return undefined;
  const labels = labelsAt(item, mapping.labels);
  const services = list(mapping.services).flatMap((each) => namesIn(valueAt(item, each)));
  const environment = text(mapping.environment) ?? firstLabel(labels, environmentLabels);
  const word = find(mapping.severity);
  const key = list(mapping.fingerprint).flatMap((each) => {
    const part = scalar(valueAt(item, each));
    if (part === undefined) leaveOut(each, 'expected a text');
    return part ?? [];
  });
  const draft = {
    fingerprint: key.join(' ') || fingerprintOf([title, environment ?? '', ...services], labels),
    status,
    title,
    description: text(mapping.description),
    severity: severityIn(),
    startsAt: time(mapping.starts_at),
    endsAt: status === 'resolved' ? time(mapping.ends_at) : undefined,
    // The core knows heartbeats by it.
    labels: word?.text.toLowerCase() === 'none' ? { severity: word.text, ...labels } : labels,
    group: text(mapping.group),
    services,
    environment,
    urls: list(mapping.url).map((each) => scalar(valueAt(item, each))),
  };
  const notice = alertNotice(draft, now);
  remarkBounds();
  return notice;

  /** What was read and does not fit into a notice. */
  function remarkBounds(): void {
    const { startsAt, endsAt } = draft;
    if (startsAt && startsAt.getTime() !== notice.startsAt.getTime()) {
      leaveOut(mapping.starts_at, 'more than ten years ago, or an hour ahead');
    }
    if (endsAt && endsAt.getTime() !== notice.endsAt?.getTime()) {
      leaveOut(mapping.ends_at, 'before the start, or more than an hour ahead');
    }
    if (notice.url === undefined) leaveOut(mapping.url, 'no http or https address, or one with a password in it');
    for (const each of list(mapping.services)) {
      if ([valueAt(item, each)].flat().some(isObject)) remark(each, 'expected names; what is no text is left out');
    }
    if (new Set(services).size > 20) remark(first(mapping.services), 'more than 20; the others are left out');
    const sent = Object.values(draft.labels).filter((value) => value !== null && value !== undefined).length;
    const kept = Object.keys(notice.labels).length;
    if (sent > kept) {
      const why = 'a value is a text, a number or a boolean, and 64 are kept';
      remark(first(mapping.labels), `${sent - kept} of ${sent} are left out: ${why}`);
    }
  }

  function severityIn(): AlertNotice['severity'] {
    const meant = own(mapping.severities, word?.text);
    const severity = meant ?? severityOf(word?.text);
    if (word !== undefined && meant === undefined && severity === 'unknown' && !/^(unknown|none)$/i.test(word.text)) {
      remark(word.path, 'a word that is not known; the severity is unknown');
    }
    return severity;
  }

  function statusOf(): Status {
    const found = find(mapping.status);
    const known = own(mapping.statuses, found?.text) ?? knownWords.get(found?.text.toLowerCase() ?? '');
    const status = known ?? own(mapping.statuses, '*');
    if (status !== undefined) {
      if (!found && status === 'ignored')
        remark(first(mapping.status), 'says of no alert that it fires; nothing is opened');
      return status;
    }
    if (found) remark(found.path, 'a word that is not known; the alert is taken for one that fires');
    return 'firing';
  }
}

/** Whether the body has what the mapping asks for. */
export function fits(body: unknown, { has }: Mapping): boolean {
  return has.every((each) => valueAt(body, each) !== undefined);
}

/** Own members only. What is left of the path may be one name with dots in it, such as a label's. */
export function valueAt(value: unknown, at: string): unknown {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const [step = '', ...rest] = at.split('.');
    if (!/^\d{1,4}$/.test(step)) return undefined;
    return rest.length === 0 ? list[Number(step)] : valueAt(list[Number(step)], rest.join('.'));
  }
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, at)) return value[at];
  const dot = at.indexOf('.');
  const name = at.slice(0, dot);
  return dot > 0 && Object.hasOwn(value, name) ? valueAt(value[name], at.slice(dot + 1)) : undefined;
}

/** The first of these paths that says something, and what; of a list its first item. */
export function firstText(item: unknown, from: string | readonly string[]) {
  for (const each of list(from)) {
    const value = valueAt(item, each);
    const text = scalar(Array.isArray(value) ? value[0] : value);
    if (text !== undefined) return { path: each, text };
  }
  return undefined;
}

function labelsAt(item: unknown, from: Paths): Readonly<Record<string, unknown>> {
  const pairs = list(from).flatMap((each): readonly (readonly [string, unknown])[] => {
    const value = valueAt(item, each);
    if (isObject(value)) return Object.entries(value);
    if (Array.isArray(value)) return value.slice(0, mostLabels).flatMap(labelIn);
    return scalar(value) === undefined ? [] : [[each.slice(each.lastIndexOf('.') + 1), value]];
  });
  return Object.fromEntries(pairs);
}

const mostLabels = 1_000;

/** `['name', 'value']`, `{ name, value }` or `name:value`. */
function labelIn(item: unknown): readonly (readonly [string, unknown])[] {
  if (typeof item === 'string') {
    const [, name = '', value = ''] = /^([^:]*):?(.*)$/s.exec(item) ?? [];
    return name === '' ? [] : [[name, value]];
  }
  const name = firstText(item, ['0', 'name', 'key', 'tag'])?.text;
  return name === undefined ? [] : [[name, firstText(item, ['1', 'value'])?.text]];
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.slice(0, mostLabels).flatMap((each) => scalar(each) ?? []);
  return (scalar(value)?.slice(0, 10_000).split(',') ?? []).map((name) => name.trim());
}

function scalar(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

/** Whether it says something. Uptime Kuma sends `https://` for no address. */
function isFilled(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return !/^(https?:\/\/)?$/.test(scalar(value) ?? '');
}

function own<Value>(words: Readonly<Record<string, Value>> | undefined, word: string | undefined): Value | undefined {
  const key = word?.toLowerCase();
  return Object.entries(words ?? {}).find(([name]) => name.toLowerCase() === key)?.[1];
}

function list(from: string | readonly string[] | undefined): readonly string[] {
  return typeof from === 'string' ? [from] : (from ?? []);
}

function first(from: Paths): string {
  return list(from)[0] ?? 'status';
}

function all(status: Status, names: string): readonly (readonly [string, Status])[] {
  return names.split(' ').map((name) => [name, status] as const);
}
