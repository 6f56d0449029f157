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
