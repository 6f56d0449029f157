import { z } from 'zod';
import type { AlertInput, AlertRequest } from '../../src/contract/alerts/index.ts';
import { bringsSecret, isSigned, requestHeader } from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { normalize } from './normalize.ts';

const instructions: AlertInput['instructions'] = ({ url, secret }) => {
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

/** PagerDuty's V3 webhooks: an incident of theirs is an alert here. */
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
 * secret is that one, or one of ours in a custom header: PagerDuty's signature then says nothing that can be checked.
 */
function verify(request: AlertRequest, secret: string): boolean {
  const signatures = (requestHeader(request, 'x-pagerduty-signature') ?? '')
    .split(',')
    .flatMap((part) => /^v1=(\S+)$/.exec(part.trim())?.[1] ?? []);
  return isSigned([request.body], signatures, secret) || bringsSecret(request, secret);
}
