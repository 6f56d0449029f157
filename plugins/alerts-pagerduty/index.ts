import { z } from 'zod';
import {
  bringsSecret,
  isSigned,
  requestHeader,
  alertNotice,
  alertTime,
  environmentLabels,
  fingerprintOf,
  firstLabel,
  readAlertBody,
  severityOf,
  wrongAlert,
  type AlertInput,
  type AlertRequest,
  type AlertNotice,
} from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin, isObject, parseJson } from '../../src/contract/core/index.ts';

/** What PagerDuty takes at most. */
const mostEventBytes = 512 * 1024;

const text = z.string().nullish();
const reference = z.object({ summary: text }).nullish();

const noEvent = "is missing; this is no body of PagerDuty's V3 webhooks, nor of its Events API v2";

const bodySchema = z.object({
  event: z.object(
    {
      event_type: z.string(),
      occurred_at: text,
      data: z.unknown(),
    },
    { error: ({ input }) => (input === undefined ? noEvent : undefined) },
  ),
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

/** Where tools send what happens to PagerDuty: the Events API v2. An acknowledgement and an end need the key alone. */
const sentSchema = z.object({
  routing_key: z.string(),
  event_action: z.enum(['trigger', 'acknowledge', 'resolve'], {
    error: ({ input }) => (input === undefined ? undefined : 'expected trigger, acknowledge or resolve'),
  }),
  dedup_key: text,
  client_url: text,
  links: z
    .array(z.object({ href: text }))
    .max(1_000)
    .nullish(),
  payload: z
    .object({
      summary: text,
      source: text,
      severity: text,
      timestamp: text,
      component: text,
      group: text,
      class: text,
      custom_details: z.unknown().optional(),
    })
    .nullish(),
});

const sentStatuses = { trigger: 'firing', acknowledge: 'acknowledged', resolve: 'resolved' } as const;

function sentNotice(body: unknown, now: Date): AlertNotice {
  const event = readAlertBody(sentSchema, body);
  const { summary, source, severity, timestamp, component, group, class: kind, custom_details } = event.payload ?? {};
  if (event.event_action === 'trigger' && !summary?.trim()) throw wrongAlert(['payload', 'summary'], 'is missing');
  if (event.event_action !== 'trigger' && !event.dedup_key) throw wrongAlert(['dedup_key'], 'is missing');
  const labels = {
    ...(isObject(custom_details) && custom_details),
    ...filled({ source, component, group, class: kind }),
  };
  const service = firstLabel(labels, ['service.name', 'service_name', 'service', 'component']);
  return alertNotice(
    {
      fingerprint:
        event.dedup_key || fingerprintOf(['event', summary ?? ''], filled({ source, component, class: kind })),
      status: sentStatuses[event.event_action],
      title: summary ?? '',
      description: typeof custom_details === 'string' ? custom_details : undefined,
      severity: severityOf(severity),
      startsAt: event.event_action === 'resolve' ? undefined : alertTime(timestamp),
      endsAt: alertTime(timestamp),
      labels,
      services: service === undefined ? [] : [service],
      environment: firstLabel(labels, environmentLabels),
      urls: [event.client_url, ...(event.links ?? []).map(({ href }) => href)],
    },
    now,
  );
}

/** The body's `routing_key`; of a small body only, since it is read before anybody is known. */
function routingKey({ body }: AlertRequest): string | undefined {
  if (body.length > mostEventBytes || !body.includes('routing_key')) return undefined;
  const read = sentSchema.pick({ routing_key: true }).safeParse(parseJson(body.toString('utf8')));
  return read.success ? read.data.routing_key : undefined;
}

/** Events about anything but the state of an incident (a note, a responder, a service, the test `pagey.ping`) are no notice. */
function normalize(body: unknown, now: Date): readonly AlertNotice[] {
  if (isObject(body) && 'routing_key' in body) return [sentNotice(body, now)];
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
  return filled(labels);
}

function filled(labels: Readonly<Record<string, string | null | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

const instructions: AlertInput['instructions'] = ({
  url,
  secret,
}) => `In PagerDuty, open Integrations, Generic Webhooks (v3), New Webhook:

  Webhook URL          ${url}
  Scope type           the service, the team or the account
  Event subscription   incident.triggered, incident.acknowledged, incident.unacknowledged, incident.reopened,
                       incident.priority_updated, incident.resolved
  Custom header        name X-Sightline-Secret, value ${secret}

PagerDuty shows a signing secret when the webhook is made. Give this source that one in place of its own, and the
custom header is not needed: each request is then known by its signature, which holds for no other body.

Then open the webhook and choose Send Test Event: it is answered, and opens nothing here.

A tool that sends to PagerDuty's Events API v2 can send here in its place:

  Address                        ${url}/v2/enqueue
  Base address, where it adds    ${url}
  Routing or integration key     ${secret}
`;

/** PagerDuty's V3 webhooks, where an incident of theirs is an alert here, and what tools send to its Events API v2. */
export default definePlugin({
  kind: 'alerts',
  name: 'pagerduty',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify,
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});

/**
 * PagerDuty signs with a secret that it makes itself, and sends one signature for each while they are rotated. The source's
 * secret is that one, or one of ours in a custom header: PagerDuty's signature then says nothing that can be checked. Who
 * sends events brings the secret as the routing key.
 */
function verify(request: AlertRequest, secret: string): boolean {
  const signatures = (requestHeader(request, 'x-pagerduty-signature') ?? '')
    .split(',')
    .flatMap((part) => /^v1=(\S+)$/.exec(part.trim())?.[1] ?? []);
  if (isSigned([request.body], signatures, secret) || bringsSecret(request, secret)) return true;
  const key = routingKey(request);
  return key !== undefined && bringsSecret({ ...request, headers: { 'x-sightline-secret': key } }, secret);
}
