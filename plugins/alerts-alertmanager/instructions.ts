import type { AlertInput } from '../../src/contract/alerts/index.ts';

export const instructions: AlertInput['instructions'] = ({ url, secret }) => {
  return `Alertmanager: add this receiver to alertmanager.yml, and name it in a route.

receivers:
  - name: sightline
    webhook_configs:
      - url: ${JSON.stringify(url)}
        send_resolved: true
        max_alerts: 200
        http_config:
          authorization:
            type: Bearer
            credentials: ${JSON.stringify(secret)}

Grafana: on the page Contact points, add one of the type Webhook, and name it in a notification policy.

  URL                                        ${url}
  HTTP method                                POST
  Max alerts                                 200
  Authorization header: scheme               Bearer
  Authorization header: credentials          ${secret}

From Grafana 12 on it can sign, with these in place of the last two:

  HMAC signature: secret                     ${secret}
  HMAC signature: header                     X-Grafana-Alerting-Signature
  HMAC signature: timestamp header           X-Grafana-Alerting-Timestamp

Leave "Disable resolved message" off and the custom payload empty.
`;
};
