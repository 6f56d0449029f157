import { z } from 'zod';
import {
  bringsSecret,
  alertLabelsSchema,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  readAlertBody,
  readAlerts,
  severityOf,
  type AlertInput,
  type AlertNotice,
} from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';

const text = z.string().nullish();
const time = z.iso.datetime({ offset: true, error: 'expected a time such as 2026-03-01T12:00:00Z' }).nullish();

/** What docs/alerts.md says of the fields; what it does not name is ignored. */
const alertSchema = z.object({
  title: z.string().refine((title) => title.trim() !== '', 'expected a title'),
  status: z.enum(['firing', 'acknowledged', 'resolved']).default('firing'),
  severity: text,
  fingerprint: text,
  starts_at: time,
  ends_at: time,
  services: z.array(z.string()).max(1_000).nullish(),
  environment: text,
  labels: alertLabelsSchema.nullish(),
  url: text,
  description: text,
  group: text,
});

/** One alert, a list of them, or `{ "alerts": [ … ] }`. */
function normalize(body: unknown, now: Date): readonly AlertNotice[] {
  if (Array.isArray(body)) return notices(body, [], now);
  if (typeof body === 'object' && body !== null && 'alerts' in body) return notices(body.alerts, ['alerts'], now);
  return [toNotice(readAlertBody(alertSchema, body), now)];
}

function notices(list: unknown, path: readonly string[], now: Date): readonly AlertNotice[] {
  return readAlerts(alertSchema, list, path).map((alert) => toNotice(alert, now));
}

function toNotice(alert: z.output<typeof alertSchema>, now: Date): AlertNotice {
  const labels = alert.labels ?? {};
  const environment = alert.environment ?? firstLabel(labels, environmentLabels);
  return alertNotice(
    {
      fingerprint:
        alert.fingerprint || fingerprintOf([alert.title, environment ?? '', ...(alert.services ?? [])], labels),
      status: alert.status,
      title: alert.title,
      description: alert.description,
      severity: severityOf(alert.severity),
      startsAt: alertTime(alert.starts_at),
      endsAt: alertTime(alert.ends_at),
      labels,
      group: alert.group,
      services: alert.services ?? [],
      environment,
      urls: [alert.url],
    },
    now,
  );
}

const instructions: AlertInput['instructions'] = ({ url, secret }) => `Post JSON, with the secret as a bearer token:

curl --fail-with-body '${url}' \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '{
    "title": "Disk of db-1 is 95 % full",
    "status": "firing",
    "severity": "warning",
    "fingerprint": "disk-db-1",
    "services": ["checkout"],
    "environment": "production",
    "labels": { "host": "db-1" },
    "url": "https://example.com/disks/db-1",
    "description": "It grows by 2 % an hour."
  }'

Only "title" is needed. Send the same "fingerprint" with "status": "resolved" when it is over. A list of such
objects, or { "alerts": [ ... ] }, is taken too.
`;

/** Alerts in our own small JSON, for what has no plugin: a script, a cron job, a sender with a template of its own. */
export default definePlugin({
  kind: 'alerts',
  name: 'generic',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: bringsSecret,
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});
