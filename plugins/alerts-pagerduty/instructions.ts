import type { AlertInput } from '../../src/contract/alerts/index.ts';

export const instructions: AlertInput['instructions'] = ({ url, secret }) => {
  return `In PagerDuty, open Integrations, Generic Webhooks (v3), New Webhook:

  Webhook URL          ${url}
  Scope type           the service, the team or the account
  Event subscription   incident.triggered, incident.acknowledged, incident.unacknowledged, incident.reopened,
                       incident.priority_updated, incident.resolved
  Custom header        name X-Sightline-Secret, value ${secret}

PagerDuty shows a signing secret when the webhook is made. Give this source that one in place of its own, and the
custom header is not needed: each request is then known by its signature, which holds for no other body.

Then open the webhook and choose Send Test Event: it is answered, and opens nothing here.
`;
};
