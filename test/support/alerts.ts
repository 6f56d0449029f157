import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import type { AlertInput, AlertNotice, Warn } from '../../src/contract/alerts/index.ts';
import type { PluginDefinition } from '../../src/contract/core/index.ts';
import { noticeFaults, noticesOf, testHost, type AlertProof } from '../contract/index.ts';
import type { z } from 'zod';

/** When the inputs under test are. */
export const now = new Date('2026-03-01T12:30:00Z');

/** Its warnings may be left aside. */
export interface InputUnderTest extends AlertInput {
  normalize(body: unknown, warn?: Warn): readonly AlertNotice[];
}

export function alertInput(plugin: PluginDefinition<'alerts', z.ZodType>, config: unknown = {}): InputUnderTest {
  const input = plugin.create(plugin.configSchema.parse(config), testHost('/nowhere', { now: () => now }));
  return { ...input, normalize: (body, warn = () => undefined) => input.normalize(body, warn) };
}

/** What an input says of a body, and what it warns of. */
export function readWith(input: AlertInput, body: unknown) {
  const warnings: string[] = [];
  const notices = input.normalize(body, (warning) => warnings.push(warning));
  return { notices, warnings };
}

/** How every sender may bring the secret. */
export const broughtSecrets: Readonly<Record<string, AlertProof>> = {
  'a bearer token': {
    signs: false,
    headers: (_body, secret) => ({ authorization: `Bearer ${secret}` }),
  },
  'the password of HTTP Basic': {
    signs: false,
    headers: (_body, secret) => ({
      authorization: `Basic ${Buffer.from(`alerts:${secret}`).toString('base64')}`,
    }),
  },
  'a header of ours': {
    signs: false,
    headers: (_body, secret) => ({ 'x-sightline-secret': secret }),
  },
};

/** HMAC-SHA256 in hex, as senders sign. */
export function signature(secret: string, ...parts: readonly (string | Buffer)[]): string {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/** Any JSON at all, and JSON with these members at its top, is read within bounds or refused. */
export function holdsForAnyBody(input: AlertInput, members: readonly string[]): void {
  const value = fc.jsonValue({ maxDepth: 4 });
  const member = fc.record(Object.fromEntries(members.map((name) => [name, value])), { requiredKeys: [] });
  fc.assert(
    fc.property(
      fc.oneof(value, member, fc.array(member), fc.record({ alerts: fc.array(member) })),
      (body) => noticesOf(input, body).flatMap(noticeFaults).length === 0,
    ),
  );
}
