import { createHmac } from 'node:crypto';
import type { z } from 'zod';
import { SightlineError } from '../core/errors.ts';
import { equalHashes, hashSecret } from '../core/ids.ts';
import { issueText, issueWords, problemAt } from '../core/json.ts';
import type { AlertRequest, Warn } from './alerts.ts';

/** Of one request. */
export const mostAlerts = 1_000;

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
  path: AlertPath = [],
): z.output<Schema> {
  const read = schema.safeParse(value, issueWords);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new SightlineError('invalid_argument', `${issue && issueText(issue, path, 'The body')}.`);
}

/** Where in the body: names of members and positions in lists. */
export type AlertPath = readonly PropertyKey[];

/** `alerts[3].title: <what is wrong>.` */
export function wrongAlert(path: AlertPath, wrong: string): SightlineError {
  return new SightlineError('invalid_argument', `${problemAt(path, wrong, 'The body')}.`);
}

/**
 * Reads the first 1,000 alerts of a list. One that cannot be read is left out with a warning, and so is what is beyond; where
 * none can be read, throws what is wrong with the first.
 */
export function readAlerts<Read>(
  list: unknown,
  path: AlertPath,
  warn: Warn,
  read: (alert: unknown, path: AlertPath) => Read | undefined,
): readonly Read[] {
  if (!Array.isArray(list)) throw wrongAlert(path, 'expected a list of alerts');
  const { length }: readonly unknown[] = list;
  const taken: Read[] = [];
  const wrong: SightlineError[] = [];
  for (let index = 0; index < Math.min(length, mostAlerts); index += 1) {
    try {
      const alert = read(list[index], [...path, index]);
      if (alert !== undefined) taken.push(alert);
    } catch (error) {
      if (!(error instanceof SightlineError)) throw error;
      wrong.push(error);
    }
  }
  const [first] = wrong;
  if (first !== undefined && wrong.length === Math.min(length, mostAlerts)) throw first;
  if (length > mostAlerts) {
    const left = (length - mostAlerts).toLocaleString('en');
    warn(
      wrongAlert(
        path,
        `${left} of ${length.toLocaleString('en')} alerts are left out; a request brings at most ${mostAlerts.toLocaleString('en')}`,
      ).message,
    );
  }
  for (const { message } of wrong) warn(`Left out: ${message}`);
  return taken;
}
