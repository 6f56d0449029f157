import { z } from 'zod';
import { bringsSecret, type AlertInput } from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { normalize } from './normalize.ts';

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
