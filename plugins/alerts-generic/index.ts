import { z } from 'zod';
import {
  bringsSecret,
  isSigned,
  readAlerts,
  requestHeader,
  wrongAlert,
  type AlertInput,
  type AlertNotice,
  type AlertPath,
  type AlertRequest,
  type Warn,
} from '../../src/contract/alerts/index.ts';
import { apiVersion, definePlugin, isObject, type JsonObject, parseJson } from '../../src/contract/core/index.ts';
import { firstText, fits, mappingSchema, noticeOf, valueAt, type Mapping } from './mapping.ts';
import { guessed, ours, prepared, shipped, unknownKeys } from './senders.ts';

const configSchema = z.strictObject({
  mappings: z
    .array(mappingSchema)
    .max(100)
    .default([])
    .describe('Mappings for your own senders, tried before the built-in ones'),
});

/** One alert, a list of them, or an object with the list, in our format or a known sender's. */
function normalize(body: unknown, mappings: readonly Mapping[], now: Date, warn: Warn): readonly AlertNotice[] {
  const content = unwrapped(body, warn);
  const read = (item: unknown, path: AlertPath) => notice(item, mappings, path, now, warn);
  if (Array.isArray(content)) return readAlerts(content, [], warn, read);
  const mapping = mappings.find((each) => fits(content, each));
  if (mapping?.alerts !== undefined) {
    const list = valueAt(content, mapping.alerts);
    return readAlerts(list, [mapping.alerts], warn, (item, path) => noticeOf(item, mapping, path, now, warn));
  }
  if (mapping === undefined && isObject(content) && 'alerts' in content) {
    return readAlerts(content['alerts'], ['alerts'], warn, read);
  }
  return [read(content, []) ?? []].flat();
}

function notice(item: unknown, mappings: readonly Mapping[], path: AlertPath, now: Date, warn: Warn) {
  if (!isObject(item)) throw wrongAlert(path, 'expected an object');
  const body = prepared(item);
  const mapping = mappings.find((each) => each.alerts === undefined && fits(body, each));
  if (mapping !== undefined) {
    const read = noticeOf(body, mapping, path, now, warn);
    if (mapping === ours) remarkUnread(item, read, path, warn);
    return read;
  }
  const title = firstText(body, guessed.title);
  if (title === undefined) throw wrongAlert([...path, 'title'], 'is missing; no mapping is for this body');
  warn(wrongAlert([...path, title.path], 'taken for the title; no mapping is for this body').message);
  return noticeOf(body, guessed, path, now, warn);
}

function remarkUnread(item: JsonObject, read: AlertNotice | undefined, path: AlertPath, warn: Warn): void {
  const unknown = unknownKeys(item);
  if (unknown !== undefined) warn(wrongAlert(path, unknown).message);
  if (read?.status !== 'resolved' && firstText(item, 'ends_at') !== undefined) {
    warn(wrongAlert([...path, 'ends_at'], 'the alert is not resolved; it is left out').message);
  }
}

const instructions: AlertInput['instructions'] = ({ url, secret }) => `Post JSON, with the secret as a bearer token:

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

What Opsgenie, New Relic, Sentry, Uptime Kuma, Zabbix and kubernetes-event-exporter send by themselves is understood: give
them the address, and the secret as a header "Authorization: Bearer ${secret}". Sentry signs: give this source the client
secret of its integration. Amazon SNS, for CloudWatch, takes the secret in the address, and is confirmed by itself:

  ${withPassword(url, secret)}
`;

function withPassword(url: string, secret: string): string {
  const address = new URL(url);
  address.username = 'sns';
  address.password = secret;
  return address.href;
}

/** Alerts in our own small JSON, of senders that the shipped mappings know, or that the config describes. */
export default definePlugin({
  kind: 'alerts',
  name: 'generic',
  apiVersion,
  configSchema,
  create: ({ mappings }, { now }) => ({
    verify,
    normalize: (body, warn) => normalize(body, [...mappings, ...shipped], now(), warn),
    confirmation: confirmationOf,
    instructions,
  }),
});

/** Sentry signs with the client secret of its integration; all others bring the secret. */
function verify(request: AlertRequest, secret: string): boolean {
  const signature = requestHeader(request, 'sentry-hook-signature');
  return signature === undefined ? bringsSecret(request, secret) : isSigned([request.body], [signature], secret);
}

/** A topic's name, with its region and the partition's domain in it. */
const topic = /^arn:aws(-cn|-us-gov)?:sns:([a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}):\d{12}:[\w-]{1,256}(?:\.fifo)?$/;

/**
 * The address that confirms a subscription. Only region, topic and token are taken from the message, never its
 * `SubscribeURL`: what is visited is always an Amazon SNS endpoint, and this call of it.
 */
function confirmationOf(body: unknown): string | undefined {
  if (!isObject(body) || body['Type'] !== 'SubscriptionConfirmation') return undefined;
  const { TopicArn: arn, Token: token } = body;
  if (typeof arn !== 'string' || typeof token !== 'string' || !/^[\w-]{1,1000}$/.test(token)) return undefined;
  const [, partition, region] = topic.exec(arn) ?? [];
  if (region === undefined) return undefined;
  const url = new URL(`https://sns.${region}.amazonaws.com${partition === '-cn' ? '.cn' : ''}/`);
  url.search = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn: arn, Token: token }).toString();
  return url.href;
}

/** What a notification of a topic carries: JSON, or a text that is then a title; any other body as it is. */
function unwrapped(body: unknown, warn: Warn): unknown {
  if (!isObject(body) || typeof body['TopicArn'] !== 'string') return body;
  const { Type: type, Message: message } = body;
  if (type === 'SubscriptionConfirmation') {
    if (confirmationOf(body) === undefined) warn('TopicArn, Token: not of Amazon SNS, and nothing is confirmed.');
    return [];
  }
  if (type === 'UnsubscribeConfirmation') {
    warn('Type: the subscription is ended; no more alerts come from this topic.');
    return [];
  }
  if (type !== 'Notification' || typeof message !== 'string') return body;
  const content = parseJson(message);
  if (isObject(content) || Array.isArray(content)) return content;
  return { subject: firstText(body, ['Subject'])?.text, message };
}
