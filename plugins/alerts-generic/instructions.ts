import type { AlertInput } from '../../src/contract/alerts/index.ts';

export const instructions: AlertInput['instructions'] = ({ url, secret }) => {
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
