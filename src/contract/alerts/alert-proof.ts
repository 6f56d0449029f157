import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { SightlineError } from '../core/errors.ts';
import { equalHashes, hashSecret } from '../core/secrets.ts';
import type { AlertRequest } from './alerts.ts';

const mostAlerts = 1_000;

/** For senders that cannot set Authorization. */
const secretHeader = 'x-sightline-secret';

/** Whether it brings the secret: as bearer token, Basic password or `X-Sightline-Secret`. In constant time; never throws. */
export function bringsSecret(request: AlertRequest, secret: string): boolean {
  if (secret === '') return false;
  const given = [requestHeader(request, secretHeader), credentials(requestHeader(request, 'authorization'))];
  return given.some((text) => text !== undefined && equalHashes(hashSecret(text), hashSecret(secret)));
}

/** Whether one of the signatures is the HMAC-SHA256 of the parts in hex. In constant time; never throws. */
export function isSigned(parts: readonly (string | Buffer)[], signatures: readonly string[], secret: string): boolean {
  if (secret === '') return false;
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  const expected = hmac.digest('hex');
  return signatures.some((signature) => equalHashes(signature, expected));
}

/** A header by its lower-case name; one sent twice as the list that it stands for. */
export function requestHeader({ headers }: AlertRequest, name: string): string | undefined {
  const value = headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}

function credentials(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined;
}

/** A body, or a part of it at `path`, by its schema. Throws `invalid_argument` with the place of what is wrong and none of its text. */
export function readAlertBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: readonly (string | number)[] = [],
): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const place = [...path, ...(issue?.path ?? [])]
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
  throw new SightlineError('invalid_argument', `${place || 'The body'}: ${issue?.message ?? 'wrong'}.`);
}

/** A list of at most 1,000 alerts, each by the schema. Throws `invalid_argument` as `readAlertBody` does. */
export function readAlerts<Schema extends z.ZodType>(
  schema: Schema,
  list: unknown,
  path: readonly (string | number)[],
): readonly z.output<Schema>[] {
  const alerts = readAlertBody(
    z.array(z.unknown()).max(mostAlerts, `more than ${mostAlerts} alerts in one request`),
    list,
    path,
  );
  return alerts.map((alert, index) => readAlertBody(schema, alert, [...path, index]));
}
