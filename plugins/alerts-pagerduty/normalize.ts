import { z } from 'zod';
import type { AlertNotice } from '../../src/contract/alerts/index.ts';
import { alertNotice, alertTime, readAlertBody, severityOf } from '../../src/contract/alerts/index.ts';

const text = z.string().nullish();
const reference = z.object({ summary: text }).nullish();

const bodySchema = z.object({
  event: z.object({
    event_type: z.string(),
    occurred_at: text,
    data: z.unknown(),
  }),
});

const kindSchema = z.object({ type: text });

const incidentSchema = z.object({
  id: z.string().min(1, 'expected the id of the incident'),
  status: z.enum(['triggered', 'acknowledged', 'resolved']),
  title: text,
  number: z.number().nullish(),
  incident_key: text,
  created_at: text,
  html_url: text,
  urgency: text,
  priority: reference,
  service: reference,
  escalation_policy: reference,
  teams: z.array(reference).max(1_000).nullish(),
});

type Event = z.output<typeof bodySchema>['event'];
type Incident = z.output<typeof incidentSchema>;

const statuses = { triggered: 'firing', acknowledged: 'acknowledged', resolved: 'resolved' } as const;

/** Events about anything but the state of an incident (a note, a responder, a service, the test `pagey.ping`) are no notice. */
export function normalize(body: unknown, now: Date): readonly AlertNotice[] {
  const { event } = readAlertBody(bodySchema, body);
  const path = ['event', 'data'];
  if (readAlertBody(kindSchema, event.data, path).type !== 'incident') return [];
  return [toNotice(readAlertBody(incidentSchema, event.data, path), event, now)];
}

function toNotice(incident: Incident, event: Event, now: Date): AlertNotice {
  const service = incident.service?.summary ?? '';
  const priority = severityOf(incident.priority?.summary);
  return alertNotice(
    {
      fingerprint: incident.id,
      status: statuses[incident.status],
      title: incident.title ?? '',
      severity: priority === 'unknown' ? severityOf(incident.urgency) : priority,
      // A reopened incident begins again, though PagerDuty goes on to say when it first did.
      startsAt: alertTime(event.event_type === 'incident.reopened' ? event.occurred_at : incident.created_at),
      endsAt: alertTime(event.occurred_at),
      labels: labelsOf(incident),
      group: incident.id,
      services: [service],
      urls: [incident.html_url],
    },
    now,
  );
}

function labelsOf(incident: Incident): Readonly<Record<string, string>> {
  const labels = {
    service: incident.service?.summary,
    incident_number: incident.number?.toString(),
    incident_key: incident.incident_key,
    urgency: incident.urgency,
    priority: incident.priority?.summary,
    escalation_policy: incident.escalation_policy?.summary,
    teams: incident.teams?.flatMap((team) => team?.summary ?? []).join(', '),
  };
  return Object.fromEntries(Object.entries(labels).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}
