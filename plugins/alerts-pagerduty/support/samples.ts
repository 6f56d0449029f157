const reference = (id: string, type: string, summary: string) => ({
  html_url: `https://acme.pagerduty.com/${type}s/${id}`,
  id,
  self: `https://api.pagerduty.com/${type}s/${id}`,
  summary,
  type: `${type}_reference`,
});

const incident = {
  id: 'PGR0VU2',
  type: 'incident',
  self: 'https://api.pagerduty.com/incidents/PGR0VU2',
  html_url: 'https://acme.pagerduty.com/incidents/PGR0VU2',
  number: 2,
  status: 'triggered',
  incident_key: 'd3640fbd41094207a1c11e58e46b1662',
  created_at: '2026-03-01T12:16:27Z',
  title: 'Checkout answers 500',
  service: reference('PF9KMXH', 'service', 'checkout'),
  assignees: [reference('PTUXL6G', 'user', 'On-call engineer')],
  escalation_policy: reference('PUS0KTE', 'escalation_policy', 'Default'),
  teams: [reference('PFCVPS0', 'team', 'Engineering'), reference('PFCVPS1', 'team', 'Shop')],
  priority: reference('PSO75BM', 'prioritie', 'P1'),
  urgency: 'high',
  conference_bridge: { conference_number: '+1 1234123412,,987654321#', conference_url: 'https://example.com' },
  resolve_reason: null,
};

function event(type: string, occurredAt: string, data: unknown, resource = 'incident'): { event: object } {
  return {
    event: {
      id: '5ac64822-4adc-4fda-ade0-410becf0de4f',
      event_type: type,
      resource_type: resource,
      occurred_at: occurredAt,
      agent: reference('PLH1HKV', 'user', 'On-call engineer'),
      client: { name: 'PagerDuty' },
      data,
    },
  };
}

export const triggered = event('incident.triggered', '2026-03-01T12:16:28.169Z', incident);

export const acknowledged = event('incident.acknowledged', '2026-03-01T12:18:00.000Z', {
  ...incident,
  status: 'acknowledged',
});

export const resolved = event('incident.resolved', '2026-03-01T12:26:00.500Z', { ...incident, status: 'resolved' });

/** Without a priority, as most accounts have none. */
export const reopened = event('incident.reopened', '2026-03-01T12:27:00.000Z', {
  ...incident,
  priority: null,
  urgency: 'low',
  teams: [],
});

export const note = event('incident.annotated', '2026-03-01T12:20:00.000Z', {
  incident: reference('PGR0VU2', 'incident', 'Checkout answers 500'),
  id: 'P2LA89X',
  content: 'The deploy of 12:15 is rolled back.',
  trimmed: false,
  type: 'incident_note',
});

export const service = event(
  'service.updated',
  '2026-03-01T12:20:00.000Z',
  { id: 'PF9KMXH', type: 'service' },
  'service',
);

/** What Send Test Event sends. */
export const ping = event(
  'pagey.ping',
  '2026-03-01T12:29:55.532Z',
  { message: 'Hello from your friend Pagey!', type: 'ping' },
  'pagey',
);

/** What tools send to the Events API v2. */
export const sent = {
  routing_key: 'R0123456789abcdef0123456789abcde',
  event_action: 'trigger',
  dedup_key: 'checkout/5xx',
  client: 'Cron of the shop',
  client_url: 'https://cron.example.com/jobs/7',
  links: [{ href: 'https://runbooks.example.com/5xx', text: 'Runbook' }],
  images: [],
  payload: {
    summary: 'Checkout answers 500',
    source: 'web-1.example.com',
    severity: 'error',
    timestamp: '2026-03-01T12:16:28.169+0000',
    component: 'checkout',
    group: 'shop',
    class: 'http',
    custom_details: { 'deployment.environment.name': 'production', rate: 0.12 },
  },
};

export const sentAcknowledgement = {
  routing_key: sent.routing_key,
  event_action: 'acknowledge',
  dedup_key: sent.dedup_key,
};

export const sentEnd = { routing_key: sent.routing_key, event_action: 'resolve', dedup_key: sent.dedup_key };
