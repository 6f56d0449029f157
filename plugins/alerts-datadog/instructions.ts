import type { AlertInput } from '../../src/contract/alerts/index.ts';
import { template } from './template.ts';

export const instructions: AlertInput['instructions'] = ({ url, secret }) => {
  return `In Datadog, open Integrations, Webhooks, New:

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
};
