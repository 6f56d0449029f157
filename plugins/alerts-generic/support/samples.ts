export const firing = {
  title: 'Disk of db-1 is 95 % full',
  status: 'firing',
  severity: 'warning',
  fingerprint: 'disk-db-1',
  starts_at: '2026-03-01T12:00:00Z',
  services: ['checkout'],
  environment: 'production',
  labels: { host: 'db-1', volume: 3, raid: true },
  url: 'https://example.com/disks/db-1',
  description: 'It grows by 2 % an hour.\nLook at the log volume.',
  group: 'disks',
};

export const resolved = { ...firing, status: 'resolved', ends_at: '2026-03-01T12:20:00+00:00' };

export const several = {
  alerts: [
    { title: 'Backup is late', severity: 'P3' },
    { title: 'Queue is long', status: 'acknowledged', labels: { queue: 'mail' } },
    { title: 'Backup is late', severity: 'P3', labels: { host: 'db-2' } },
  ],
};

/* What other senders post, after their documentation. */

/** Opsgenie's webhook; only `action` changes over the life of an alert, and Opsgenie counts one time in nanoseconds. */
export const opsgenie = {
  source: { name: '', type: 'api' },
  alert: {
    alertId: '052652ac-5d1c-464a-812a-7dd18bbfba8c',
    message: 'Checkout answers 500',
    tags: ['env:production', 'shop'],
    tinyId: '23',
    alias: 'checkout-5xx',
    entity: 'checkout',
    createdAt: 1_772_366_400_000,
    updatedAt: 1_772_366_400_000_000_000,
    username: 'on-call@example.com',
    userId: 'daed1180-0ce8-438b-8f8e-57e1a5920a2d',
    description: 'More than 5 % fail',
    priority: 'P2',
    details: { region: 'eu' },
  },
  action: 'Create',
  integrationId: '37c8f316-17c6-49d7-899b-9c7e540c048d',
  integrationName: 'Webhook',
};

const alarm = {
  AlarmName: 'payment-5xx',
  AlarmDescription: 'Payment answers 500',
  AWSAccountId: '123456789012',
  AlarmConfigurationUpdatedTimestamp: '2026-02-22T12:22:09.734+0000',
  NewStateValue: 'ALARM',
  NewStateReason: 'Threshold Crossed: 1 datapoint [12.0 (01/03/26 11:55:00)] was greater than the threshold (5.0).',
  StateChangeTime: '2026-03-01T12:00:00.000+0000',
  Region: 'EU (Ireland)',
  AlarmArn: 'arn:aws:cloudwatch:eu-west-1:123456789012:alarm:payment-5xx',
  OldStateValue: 'OK',
  Trigger: {
    MetricName: 'HTTPCode_Target_5XX_Count',
    Namespace: 'AWS/ECS',
    StatisticType: 'Statistic',
    Statistic: 'SUM',
    Unit: null,
    Dimensions: [
      { value: 'shop', name: 'ClusterName' },
      { value: 'payment', name: 'ServiceName' },
    ],
    Period: 300,
    EvaluationPeriods: 1,
    ComparisonOperator: 'GreaterThanThreshold',
    Threshold: 5,
    TreatMissingData: 'missing',
  },
};

/** An alarm of CloudWatch without SNS around it, as raw message delivery brings it. */
export const cloudwatch = (NewStateValue = 'ALARM') => ({ ...alarm, NewStateValue });

/** A message of Amazon SNS. */
export const sns = (message: object | string, more: object = {}) => ({
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
  Subject: 'ALARM: "payment-5xx" in EU (Ireland)',
  Message: typeof message === 'string' ? message : JSON.stringify(message),
  Timestamp: '2026-03-01T12:00:01.000Z',
  SignatureVersion: '1',
  Signature: 'EXAMPLEw6JRN',
  SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0000.pem',
  UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
  ...more,
});

/** What SNS sends before anything else. */
export const snsConfirmation = {
  ...sns('You have chosen to subscribe to the topic.', { Type: 'SubscriptionConfirmation', Subject: undefined }),
  Token: '2336412f37fb687f5d51e6e2425c464de4f6b0d3',
  SubscribeURL:
    'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37fb687f5d51e6e2425c464d',
};

/** Sentry's hook of an issue, by `action`. */
export const sentryIssue = (action: string, status: string) => ({
  action,
  actor: { id: 'sentry', name: 'Sentry', type: 'application' },
  data: {
    issue: {
      annotations: [],
      assignedTo: null,
      count: '1',
      culprit: 'search.pay',
      firstSeen: '2026-03-01T11:58:37.391000Z',
      id: '1170820242',
      lastSeen: '2026-03-01T11:58:37.391000Z',
      level: 'error',
      metadata: { type: 'ReferenceError', value: 'heck is not defined' },
      permalink: null,
      platform: 'node',
      project: { id: '1', name: 'search', platform: 'node', slug: 'search' },
      shortId: 'SEARCH-9',
      status,
      title: 'ReferenceError: heck is not defined',
      web_url: 'https://acme.sentry.io/issues/1170820242/',
    },
  },
  installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' },
});

/** Sentry's hook of an alert rule about an issue. */
export const sentryEvent = {
  action: 'triggered',
  actor: { id: 'sentry', name: 'Sentry', type: 'application' },
  data: {
    event: {
      culprit: 'search.pay',
      datetime: '2026-03-01T12:00:17.403000Z',
      environment: 'production',
      event_id: 'e4874d664c3540c1a32eab185f12c5ab',
      issue_id: '1170820242',
      level: 'error',
      message: '',
      platform: 'node',
      project: 1,
      tags: [
        ['service', 'search'],
        ['level', 'error'],
      ],
      timestamp: 1_772_366_417.403,
      title: 'ReferenceError: heck is not defined',
      web_url: 'https://acme.sentry.io/issues/1170820242/events/e4874d664c3540c1a32eab185f12c5ab/',
    },
    triggered_rule: 'Very Important Alert Rule!',
  },
  installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' },
};

/** Sentry's hook of a metric alert, by `action`: critical, warning or resolved. */
export const sentryMetric = (action: string) => ({
  action,
  actor: { id: 'sentry', name: 'Sentry', type: 'application' },
  data: {
    description_text: '1000 events in the last 10 minutes',
    description_title: `${action === 'resolved' ? 'Resolved' : 'Critical'}: Too many errors`,
    metric_alert: {
      alert_rule: { aggregate: 'count()', environment: 'production', name: 'Too many errors', projects: ['search'] },
      date_closed: action === 'resolved' ? '2026-03-01T12:20:00.000Z' : null,
      date_started: '2026-03-01T12:00:00.000Z',
      id: '4',
      identifier: '2',
      projects: ['search'],
      status: action === 'resolved' ? 2 : 20,
      title: 'Too many errors',
    },
    web_url: 'https://acme.sentry.io/alerts/metrics/4/',
  },
  installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' },
});

/** New Relic's default template of a workflow. */
export const newRelic = (state: string) => ({
  id: 'b6137c61-0e27-496d-bd9b-335c98c155eb',
  issueUrl: 'https://one.eu.newrelic.com/launcher/nrai.launcher?pane=123',
  title: ["Error percentage > 2.5% for at least 5 minutes on 'cart'"],
  priority: 'CRITICAL',
  impactedEntities: ['cart'],
  totalIncidents: 1,
  state,
  trigger: state === 'CLOSED' ? 'INCIDENT_CLOSED' : 'STATE_CHANGE',
  isCorrelated: false,
  createdAt: 1_772_366_400_000,
  updatedAt: state === 'CLOSED' ? 1_772_367_600_000 : 1_772_366_400_000,
  sources: ['newrelic'],
  alertPolicyNames: ['Shop'],
  alertConditionNames: ['Error percentage'],
  workflowName: 'On-call',
});

/** The script that deploy/alerts/zabbix.txt gives Zabbix posts the parameters of its media types. */
export const zabbix = (value: '0' | '1') => ({
  event_id: '30210041',
  event_value: value,
  event_name: 'High CPU utilization (over 90% for 5m)',
  event_nseverity: '4',
  event_severity: 'High',
  event_opdata: 'Current utilization: 97 %',
  event_tags: JSON.stringify([{ tag: 'scope', value: 'performance' }]),
  host_name: 'db-1',
  trigger_id: '86472',
  started: '1772366400',
  ended: value === '0' ? '1772367600' : '',
});

/** Uptime Kuma's webhook with its preset body: 0 is down, 1 is up. */
export const uptimeKuma = (status: number) => ({
  heartbeat: {
    monitorID: 29,
    status,
    time: status === 0 ? '2026-03-01 12:00:00.527' : '2026-03-01 12:20:00.000',
    msg: status === 0 ? 'getaddrinfo ENOTFOUND shop.example.com' : '200 - OK',
    important: true,
    duration: 60,
    timezone: 'Europe/Vienna',
    timezoneOffset: '+01:00',
    localDateTime: '2026-03-01 13:00:00',
  },
  monitor: {
    id: 29,
    name: 'Shop',
    description: null,
    url: 'https://shop.example.com/',
    hostname: null,
    type: 'http',
    tags: [{ tag_id: 1, monitor_id: 29, value: 'production', name: 'env', color: '#2563EB' }],
  },
  msg: status === 0 ? '[Shop] [🔴 Down] getaddrinfo ENOTFOUND shop.example.com' : '[Shop] [✅ Up] 200 - OK',
});

export const uptimeKumaTest = { heartbeat: null, monitor: null, msg: 'My webhook Testing' };

/** What kubernetes-event-exporter posts of an event. */
export const kubernetesEvent = (type: 'Warning' | 'Normal') => ({
  metadata: {
    name: 'mail-7d9f8c6b5-x2kq9.17a8b1c2d3e4f5a6',
    namespace: 'shop',
    uid: '0b5d7c1e-2f7a-4b54-9a46-1f7a5f1b9a11',
    creationTimestamp: '2026-03-01T12:00:00Z',
  },
  reason: type === 'Warning' ? 'BackOff' : 'Pulled',
  message: type === 'Warning' ? 'Back-off restarting failed container mail in pod mail' : 'Pulled the image',
  source: { component: 'kubelet', host: 'node-1' },
  firstTimestamp: '2026-03-01T12:00:00Z',
  lastTimestamp: '2026-03-01T12:05:00Z',
  count: 7,
  type,
  eventTime: null,
  reportingComponent: 'kubelet',
  reportingInstance: 'node-1',
  clusterName: 'eu',
  involvedObject: {
    kind: 'Pod',
    namespace: 'shop',
    name: 'mail-7d9f8c6b5-x2kq9',
    uid: '47d965e6-4bb3-4c58-a089-1a8b16bf21b0',
    apiVersion: 'v1',
    fieldPath: 'spec.containers{mail}',
    labels: { 'pod-template-hash': '7d9f8c6b5' },
  },
});
