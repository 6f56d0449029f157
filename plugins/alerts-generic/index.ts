import { z } from 'zod';
import { bringsSecret } from '../../src/contract/alerts/index.ts';
import type { AlertInput } from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin } from '../../src/contract/core/index.ts';
import { normalize } from './normalize.ts';

const instructions: AlertInput['instructions'] = ({ url, secret }) => {
  return `Post JSON, with the secret as a bearer token:

curl --fail-with-body '${url}' \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '{
    "title": "Disk of db-1 is 95 % full",
    "status": "firing",
    "severity": "warning",
    "fingerprint": "disk-db-1",
    "services": ["checkout"],
    "environment": "production",
    "labels": { "host": "db-1" },
    "url": "https://example.com/disks/db-1",
    "description": "It grows by 2 % an hour."
  }'

Only "title" is needed. Send the same "fingerprint" with "status": "resolved" when it is over. A list of such
objects, or { "alerts": [ ... ] }, is taken too.
`;
};

/** Alerts in our own small JSON, for what has no plugin: a script, a cron job, a sender with a template of its own. */
export default definePlugin({
  kind: 'alerts',
  name: 'generic',
  apiVersion,
  configSchema: z.strictObject({}),
  create: (_config, { now }) => ({
    verify: bringsSecret,
    normalize: (body) => normalize(body, now()),
    instructions,
  }),
});
