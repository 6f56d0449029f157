import { isObject, parseJson } from '../../src/contract/core/index.ts';
import type { Warn } from '../../src/contract/alerts/index.ts';
import { firstText } from './mapping.ts';

/** A topic's name, with its region and the partition's domain in it. */
const topic = /^arn:aws(-cn|-us-gov)?:sns:([a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}):\d{12}:[\w-]{1,256}(?:\.fifo)?$/;

/**
 * The address that confirms a subscription. Only region, topic and token are taken from the message, never its
 * `SubscribeURL`: what is visited is always an Amazon SNS endpoint, and this call of it.
 */
export function confirmationOf(body: unknown): string | undefined {
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
export function unwrapped(body: unknown, warn: Warn): unknown {
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
