import { z } from 'zod';
import type { AlertNotice } from '../../src/contract/alerts/index.ts';
import {
  alertLabelsSchema,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  readAlertBody,
  readAlerts,
  severityOf,
} from '../../src/contract/alerts/index.ts';

const text = z.string().nullish();
const status = z.enum(['firing', 'resolved']);

const bodySchema = z.object({
  alerts: z.unknown(),
  /** A number in the versions before 4. */
  groupKey: z.union([z.string(), z.number()], 'expected a text').nullish(),
  externalURL: text,
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

/**
 * Alerts that Alertmanager left out (`truncatedAlerts`) are not there to be read. The service is looked for in the labels, by
 * the core.
 */
export function normalize(body: unknown, now: Date): readonly AlertNotice[] {
  const group = readAlertBody(bodySchema, body);
  return readAlerts(alertSchema, group.alerts, ['alerts']).map((alert) => toNotice(alert, group, now));
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
