import { z } from 'zod';
import {
  bringsSecret,
  isSigned,
  requestHeader,
  alertLabelsSchema,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  readAlertBody,
  readAlerts,
  severityOf,
  wrongAlert,
  type AlertInput,
  type AlertRequest,
  type AlertNotice,
  type Warn,
} from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';

const text = z.string().nullish();
const status = z.enum(['firing', 'resolved']);

const bodySchema = z.object({
  alerts: z.unknown().optional(),
  /** A number in the versions before 4. */
  groupKey: z.union([z.string(), z.number()], 'expected a text').nullish(),
  externalURL: text,
  /** How many alerts `max_alerts` of the receiver left out. */
  truncatedAlerts: z.unknown().optional(),
});

const alertSchema = z.object({
  status,
  labels: alertLabelsSchema,
  annotations: alertLabelsSchema.nullish(),
  startsAt: text,
  endsAt: text,
  generatorURL: text,
  fingerprint: text,
  // Grafana's
  panelURL: text,
  dashboardURL: text,
});

/** The service is looked for in the labels, by the core. */
function normalize(body: unknown, now: Date, warn: Warn): readonly AlertNotice[] {
  const group = readAlertBody(bodySchema, body);
  const { truncatedAlerts } = group;
  if (group.alerts === undefined) {
    throw wrongAlert(['alerts'], "is missing; this is no body of Alertmanager's webhook, version 4");
  }
  if (typeof truncatedAlerts === 'number' && truncatedAlerts > 0) {
    warn(`truncatedAlerts: ${truncatedAlerts} alerts are left out by the sender.`);
  }
  return readAlerts(group.alerts, ['alerts'], warn, (alert, path) =>
    toNotice(readAlertBody(alertSchema, alert, path), group, now),
  );
}

function toNotice(alert: z.output<typeof alertSchema>, group: z.output<typeof bodySchema>, now: Date): AlertNotice {
  const { labels } = alert;
  const annotations = alert.annotations ?? {};
  return alertNotice(
    {
      fingerprint: alert.fingerprint || fingerprintOf([], labels),
      status: alert.status,
      title: firstLabel(annotations, ['summary', 'title']) ?? firstLabel(labels, ['alertname']) ?? '',
      description: firstLabel(annotations, ['description', 'message']),
      severity: severityOf(firstLabel(labels, ['severity', 'priority', 'level'])),
      startsAt: alertTime(alert.startsAt),
      endsAt: alertTime(alert.endsAt),
      labels,
      group: group.groupKey?.toString(),
      environment: firstLabel(labels, environmentLabels),
      urls: [alert.generatorURL, alert.panelURL, alert.dashboardURL, group.externalURL],
    },
    now,
  );
}

const replayWindowSeconds = 300;

const instructions: AlertInput['instructions'] = ({
  url,
  secret,
}) => `Alertmanager: add this receiver to alertmanager.yml, and name it in a route.

receivers:
  - name: sightline
    webhook_configs:
      - url: ${JSON.stringify(url)}
        send_resolved: true
        max_alerts: 200
        http_config:
          authorization:
            type: Bearer
            credentials: ${JSON.stringify(secret)}

Grafana: on the page Contact points, add one of the type Webhook, and name it in a notification policy.

  URL                                        ${url}
  HTTP method                                POST
  Max alerts                                 200
  Authorization header: scheme               Bearer
  Authorization header: credentials          ${secret}

From Grafana 12 on it can sign, with these in place of the last two:

  HMAC signature: secret                     ${secret}
  HMAC signature: header                     X-Grafana-Alerting-Signature
  HMAC signature: timestamp header           X-Grafana-Alerting-Timestamp

Leave "Disable resolved message" off and the custom payload empty.
`;

/** Prometheus Alertmanager's webhook (version 4), and Grafana's, which has the same shape and more. */
export default definePlugin({
  kind: 'alerts',
  name: 'alertmanager',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: (request, secret) => verify(request, secret, now()),
    normalize: (body, warn) => normalize(body, now(), warn),
    instructions,
  }),
});

/**
 * Alertmanager signs nothing: it brings the secret. Grafana does the same or signs, and what is signed must be signed rightly,
 * whatever else the request brings: the body, or `<seconds>:<body>` where it sends the time.
 */
function verify(request: AlertRequest, secret: string, now: Date): boolean {
  const signature = requestHeader(request, 'x-grafana-alerting-signature');
  if (signature === undefined) return bringsSecret(request, secret);
  const timestamp = requestHeader(request, 'x-grafana-alerting-timestamp');
  if (timestamp === undefined) return isSigned([request.body], [signature], secret);
  return isRecent(timestamp, now) && isSigned([timestamp, ':', request.body], [signature], secret);
}

function isRecent(timestamp: string, now: Date): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() / 1_000 - Number(timestamp)) <= replayWindowSeconds;
}
