import { isObject, type JsonObject } from '../../src/contract/core/index.ts';
import { nearestName } from '../../src/contract/core/spelling.ts';
import { valueAt, type Mapping } from './mapping.ts';

/** Our own format, which docs/alerts.md describes; what it does not name is left out, with a warning. */
export const ours: Mapping = {
  name: 'Sightline',
  has: ['title'],
  title: 'title',
  description: 'description',
  status: 'status',
  severity: 'severity',
  fingerprint: 'fingerprint',
  group: 'group',
  starts_at: 'starts_at',
  ends_at: 'ends_at',
  services: ['services', 'service'],
  environment: 'environment',
  url: 'url',
  labels: 'labels',
};

const { name: _, has: __, ...fields } = ours;
const keys: ReadonlySet<string> = new Set(Object.values(fields).flat().map(String));

/** The keys of an alert in our format that are not read, as a warning says it: the first five. */
export function unknownKeys(alert: JsonObject): string | undefined {
  const unknown = Object.keys(alert).filter((key) => !keys.has(key));
  const named = unknown.slice(0, 5).map((key) => {
    const near = nearestName(key, keys);
    return `${JSON.stringify(key.slice(0, 30))}${near === undefined ? '' : ` (did you mean ${near}?)`}`;
  });
  if (unknown.length > named.length) named.push(`${unknown.length - named.length} more`);
  return unknown.length === 0 ? undefined : `there is no such key, and it is left out: ${named.join(', ')}`;
}

/** What common senders post, which is fixed or their default. The first that fits counts. */
export const shipped: readonly Mapping[] = [
  {
    name: 'Opsgenie',
    has: ['action', 'alert.alertId', 'alert.message'],
    title: 'alert.message',
    description: 'alert.description',
    status: 'action',
    statuses: { delete: 'resolved', unacknowledge: 'firing', '*': 'ignored' },
    severity: 'alert.priority',
    fingerprint: 'alert.alertId',
    starts_at: 'alert.createdAt',
    ends_at: 'alert.updatedAt',
    services: ['alert.details.service.name', 'alert.details.service', 'alert.entity'],
    labels: ['alert.tags', 'alert.details', 'alert.alias', 'alert.source'],
  },
  {
    name: 'CloudWatch',
    has: ['AlarmName', 'NewStateValue'],
    title: 'AlarmName',
    description: ['NewStateReason', 'AlarmDescription'],
    status: 'NewStateValue',
    statuses: { '*': 'ignored' },
    fingerprint: ['AlarmArn', 'AWSAccountId', 'Region', 'AlarmName'],
    starts_at: 'StateChangeTime',
    ends_at: 'StateChangeTime',
    services: ['dimensions.ServiceName', 'dimensions.FunctionName', 'dimensions.Service'],
    labels: ['dimensions', 'Region', 'AWSAccountId', 'Trigger.Namespace', 'Trigger.MetricName', 'AlarmDescription'],
  },
  {
    name: 'Sentry metric alert',
    has: ['action', 'data.metric_alert'],
    title: ['data.metric_alert.title', 'data.metric_alert.alert_rule.name', 'data.description_title'],
    description: 'data.description_text',
    status: 'action',
    severity: 'action',
    severities: { resolved: 'unknown' },
    fingerprint: 'data.metric_alert.id',
    starts_at: 'data.metric_alert.date_started',
    ends_at: 'data.metric_alert.date_closed',
    services: 'data.metric_alert.projects',
    environment: 'data.metric_alert.alert_rule.environment',
    url: 'data.web_url',
  },
  {
    name: 'Sentry issue',
    has: ['action', 'data.issue.id', 'data.issue.title'],
    title: 'data.issue.title',
    description: ['data.issue.culprit', 'data.issue.metadata.value'],
    status: 'action',
    statuses: { assigned: 'acknowledged', ignored: 'resolved' },
    severity: 'data.issue.level',
    fingerprint: 'data.issue.id',
    starts_at: 'began',
    services: ['data.issue.project.slug'],
    url: ['data.issue.web_url', 'data.issue.permalink'],
    labels: ['data.issue.shortId', 'data.issue.platform', 'data.issue.culprit'],
  },
  {
    name: 'Sentry issue alert',
    has: ['action', 'data.event.title'],
    title: 'data.event.title',
    description: ['data.event.message', 'data.event.culprit'],
    severity: 'data.event.level',
    fingerprint: 'data.event.issue_id',
    starts_at: 'data.event.datetime',
    environment: 'data.event.environment',
    url: 'data.event.web_url',
    labels: [
      'data.event.tags',
      'data.triggered_rule',
      'data.event.culprit',
      'data.event.platform',
      'data.event.release',
    ],
  },
  {
    name: 'New Relic',
    has: ['issueUrl', 'state', 'title'],
    title: 'title',
    status: 'state',
    severity: 'priority',
    fingerprint: ['id'],
    starts_at: 'createdAt',
    ends_at: ['closedAt', 'updatedAt'],
    services: 'impactedEntities',
    url: 'issueUrl',
    labels: ['alertPolicyNames.0', 'alertConditionNames.0', 'workflowName'],
  },
  {
    name: 'Zabbix',
    has: ['event_id', 'event_value', 'event_name'],
    title: ['event_name', 'alert_subject'],
    description: ['trigger_description', 'alert_message', 'event_opdata'],
    status: 'event_value',
    statuses: { 0: 'resolved', 1: 'firing' },
    severity: ['event_severity', 'event_nseverity'],
    severities: {
      'not classified': 'unknown',
      0: 'unknown',
      1: 'low',
      2: 'medium',
      3: 'medium',
      4: 'high',
      5: 'critical',
    },
    fingerprint: 'event_id',
    starts_at: ['started', 'event_datetime'],
    ends_at: ['ended', 'event_recovery_datetime'],
    labels: ['event_tags', 'host_name', 'host_ip', 'event_opdata', 'trigger_id'],
  },
  {
    name: 'Uptime Kuma',
    has: ['heartbeat', 'monitor', 'msg'],
    title: ['monitor.name', 'msg'],
    description: ['heartbeat.msg', 'msg'],
    status: 'heartbeat.status',
    statuses: { 0: 'firing', 1: 'resolved', '*': 'ignored' },
    fingerprint: 'monitor.id',
    starts_at: 'time',
    ends_at: 'time',
    url: 'monitor.url',
    labels: ['monitor.tags', 'monitor.type', 'monitor.hostname', 'monitor.url'],
  },
  {
    name: 'Kubernetes event',
    has: ['involvedObject.kind', 'reason', 'message'],
    title: 'message',
    status: 'type',
    statuses: { warning: 'firing', '*': 'ignored', normal: 'ignored' },
    severity: 'type',
    fingerprint: ['involvedObject.uid', 'involvedObject.name', 'reason'],
    starts_at: ['firstTimestamp', 'eventTime', 'lastTimestamp', 'metadata.creationTimestamp'],
    labels: [
      'involvedObject.labels',
      'object',
      'reason',
      'involvedObject.namespace',
      'source.component',
      'clusterName',
    ],
  },
  ours,
];

/** For a body that no mapping fits, each path a guess. */
export const guessed: Mapping = {
  name: 'unknown',
  has: [],
  title: [
    ...'title name subject summary headline alert_name alertName alertname rule_name ruleName event_name'.split(' '),
    ...'labels.alertname annotations.summary check_name message msg text detail-type ProblemTitle'.split(' '),
    ...'alert.title alert.name alert.message alert.summary incident.title incident.policy_name'.split(' '),
    ...'incident.summary event.title event.name event.message problem.title check.name monitor.name data.title'.split(
      ' ',
    ),
  ],
  description: ['description', 'details', 'body', 'message', 'text', 'alert.description', 'incident.summary'],
  status: [
    ...'status state alert_state alertState current_state ProblemState event_action action'.split(' '),
    ...'alert.status alert.state incident.state incident.status event.status check.status monitor.status'.split(' '),
  ],
  severity: [
    'severity',
    'priority',
    'level',
    'labels.severity',
    'alert.severity',
    'alert.priority',
    'incident.severity',
  ],
  fingerprint: ['fingerprint', 'dedup_key', 'incident_id', 'alert_id', 'alertId', 'incident.incident_id', 'alert.id'],
  starts_at: ['starts_at', 'startsAt', 'started_at', 'incident.started_at'],
  ends_at: ['ends_at', 'endsAt', 'ended_at', 'incident.ended_at'],
  services: ['services', 'service', 'alert.service', 'incident.service'],
  environment: ['environment', 'env'],
  url: ['url', 'link', 'web_url', 'html_url', 'alert.url', 'incident.url'],
  labels: ['labels', 'tags'],
};

/** The body in the form that the mappings read: what they cannot say as paths. */
export function prepared(body: unknown): unknown {
  if (!isObject(body)) return body;
  const kind = valueAt(body, 'involvedObject.kind');
  if (typeof kind === 'string') {
    return { ...body, object: { [kind.toLowerCase()]: valueAt(body, 'involvedObject.name') } };
  }
  const dimensions = valueAt(body, 'Trigger.Dimensions');
  if (Array.isArray(dimensions)) {
    const pairs = dimensions
      .slice(0, 100)
      .map((each) => [String(valueAt(each, 'name')), valueAt(each, 'value')] as const);
    return { ...body, dimensions: Object.fromEntries(pairs) };
  }
  // An issue that is reopened begins again, though Sentry goes on to say when it was first seen.
  const began = valueAt(body, 'data.issue.firstSeen');
  if (began !== undefined && body['action'] !== 'unresolved') return { ...body, began };
  // Uptime Kuma writes UTC and leaves the zone out.
  const time = valueAt(body, 'heartbeat.time');
  if (typeof time === 'string' && /\d$/.test(time)) return { ...body, time: `${time}Z` };
  return body;
}
