import { z } from 'zod';
import {
  bringsSecret,
  type AlertInput,
  type AlertNotice,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  readAlertBody,
  severityOf,
  type Warn,
} from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin, isObject } from '../../src/contract/core/index.ts';
import type { Severity } from '../../src/contract/storage/index.ts';

/** The payload that Datadog is given, field by field; normalize.ts reads it. Datadog puts its values in place of the variables. */
export const template = {
  monitor_id: '$ALERT_ID',
  cycle: '$ALERT_CYCLE_KEY',
  transition: '$ALERT_TRANSITION',
  title: '$EVENT_TITLE',
  body: '$TEXT_ONLY_MSG',
  priority: '$ALERT_PRIORITY',
  type: '$ALERT_TYPE',
  query: '$ALERT_QUERY',
  scope: '$ALERT_SCOPE',
  tags: '$TAGS',
  host: '$HOSTNAME',
  date: '$DATE',
  url: '$LINK',
  organization: '$ORG_NAME',
} as const;

const instructions: AlertInput['instructions'] = ({ url, secret }) => `In Datadog, open Integrations, Webhooks, New:

Name
  sightline

URL
  ${url}

Payload
${JSON.stringify(template, null, 2)}

Custom headers
${JSON.stringify({ Authorization: `Bearer ${secret}` }, null, 2)}

Leave "Encode as form" off. Then name @webhook-sightline in the message of each monitor that is to report here, outside of
any {{#is_alert}} block, so that the recovery is sent too.
`;

/** Datadog's webhooks with the payload in `template`: Datadog has no payload of its own. */
export default definePlugin({
  kind: 'alerts',
  name: 'datadog',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: bringsSecret,
    normalize: (body, warn) => normalize(body, now(), warn),
    instructions,
  }),
});

/** A variable that does not apply is empty, `null`, or stands there as it was written. */
const text = z
  .union([z.string(), z.number()], 'expected a text')
  .nullish()
  .transform((value) => {
    const trimmed = String(value ?? '').trim();
    return /^(null|none|\$[A-Z_]+)?$/i.test(trimmed) ? undefined : trimmed;
  });

const required = text.pipe(z.string('is missing; the payload is not the one that Sightline gives'));

const bodySchema = z.object({
  monitor_id: text,
  transition: required,
  title: required,
  cycle: text,
  body: text,
  priority: text,
  type: text,
  query: text,
  scope: text,
  tags: text,
  host: text,
  date: text,
  url: text,
  organization: text,
});

type Body = z.output<typeof bodySchema>;

/** One notice: Datadog sends a request for each group of a monitor. */
function normalize(body: unknown, now: Date, warn: Warn): readonly AlertNotice[] {
  if (isTest(body)) {
    warn('This is a test without a monitor: address, secret and payload are right, and nothing is opened.');
    return [];
  }
  const alert = readAlertBody(bodySchema, body);
  if (alert.monitor_id === undefined)
    warn('monitor_id is missing, so that title and scope tell the alert from others.');
  const tags = readTags(alert.tags, alert.scope);
  const status = statusOf(alert);
  const at = alertTime(alert.date);
  const { monitor_id, host, scope, query, organization } = alert;
  const labels = labelsOf(tags, { monitor_id, host, scope, query, organization });
  return [
    alertNotice(
      {
        fingerprint:
          alert.cycle ?? fingerprintOf([alert.monitor_id ?? titleOf(alert.title), ...scopes(alert.scope)], {}),
        status,
        title: titleOf(alert.title),
        description: alert.body,
        severity: severity(alert),
        startsAt: at,
        endsAt: at,
        labels,
        group: alert.monitor_id,
        services: tags.filter(([name]) => name === 'service').map(([, value]) => value),
        environment: firstLabel(labels, environmentLabels),
        urls: [alert.url],
      },
      now,
    ),
  ];
}

/** What a test sends of no monitor: the payload that Sightline gives, with variables that say nothing. */
function isTest(body: unknown): boolean {
  if (!isObject(body) || !Object.hasOwn(body, 'monitor_id')) return false;
  const { data } = bodySchema.extend({ transition: text, title: text }).safeParse(body);
  if (data === undefined || data.monitor_id !== undefined) return false;
  return data.transition === undefined || data.title === undefined || /^\[TEST\b/i.test(data.title);
}

/** `Recovered` ends an alert. Triggered, Warn and No Data, their `Re-` forms and Renotify are about one that goes on. */
function statusOf({ transition }: Body): AlertNotice['status'] {
  return transition.toLowerCase() === 'recovered' ? 'resolved' : 'firing';
}

/** By the priority of the monitor, where it has one; else by what it goes to. */
function severity({ priority, transition, type }: Body): Severity {
  const ofPriority = severityOf(priority);
  if (ofPriority !== 'unknown') return ofPriority;
  return /warn$/i.test(transition) ? severityOf('warning') : severityOf(type);
}

function scopes(scope: string | undefined): readonly string[] {
  return (scope ?? '')
    .split(',')
    .map((part) => part.trim())
    .toSorted();
}

const titleState = /^\[(?:P\d|TEST|(?:Re-)?(?:Triggered|Warn|No Data|Recovered)|Renotify)\b[^\]]*\]\s*/i;

/** The monitor's name: Datadog puts its priority and state in brackets before it, `[P2] [Triggered on {host:a}] Disk is full`. */
function titleOf(title: string): string {
  let rest = title.slice(0, 2_000);
  while (titleState.test(rest)) rest = rest.replace(titleState, '');
  return rest === '' ? title : rest;
}

type Tag = readonly [name: string, value: string];

/** Datadog's comma-separated lists of `name:value` or bare names, of which 20,000 characters count. */
function readTags(...lists: readonly (string | undefined)[]): readonly Tag[] {
  return lists.flatMap((list) =>
    (list ?? '')
      .slice(0, 20_000)
      .split(',')
      .flatMap((part): Tag[] => {
        const [, name = '', value = ''] = /^([^:]*):?(.*)$/s.exec(part.trim()) ?? [];
        return name === '' || name === '*' ? [] : [[name, value]];
      }),
  );
}

/** Tags as labels, repeated tags joined, then the alert's other fields. */
function labelsOf(
  tags: readonly Tag[],
  more: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of tags) values.set(name, (values.get(name) ?? new Set()).add(value));
  for (const [name, value] of Object.entries(more)) {
    if (value !== undefined) values.set(name, new Set([value]));
  }
  return Object.fromEntries([...values].map(([name, each]) => [name, [...each].join(', ')]));
}
