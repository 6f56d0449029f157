import { describe, expect, it } from '@jest/globals';
import * as runner from '@jest/globals';
import { untitledAlert } from '../../src/contract/alerts/index.ts';
import { alertsContract, type AlertProof } from '../../test/contract/index.ts';
import { alertInput, broughtSecrets, holdsForAnyBody, signature } from '../../test/support/alerts.ts';
import plugin from './index.ts';
import {
  acknowledged,
  note,
  ping,
  reopened,
  resolved,
  sent,
  sentAcknowledgement,
  sentEnd,
  service,
  triggered,
} from './support/samples.ts';

const input = alertInput(plugin);

const signed = (others: readonly string[]): AlertProof => ({
  signs: true,
  headers: (body, secret) => ({
    'x-pagerduty-signature': [...others, `v1=${signature(secret, body)}`].join(','),
    'x-webhook-subscription': 'PXXXXXX',
  }),
});

alertsContract(runner, () => ({
  input,
  proofs: {
    ...broughtSecrets,
    "PagerDuty's signature": signed([]),
    'one of several signatures': signed([`v1=${'0'.repeat(64)}`, `v2=${'1'.repeat(64)}`]),
    'a header of ours, beside a signature with their own secret': {
      signs: false,
      headers: (body, secret) => ({
        'x-pagerduty-signature': `v1=${signature('theirs', body)}`,
        'x-sightline-secret': secret,
      }),
    },
  },
  samples: {
    triggered: { body: triggered, titles: ['Checkout answers 500'] },
    acknowledged: { body: acknowledged, titles: ['Checkout answers 500'] },
    resolved: { body: resolved, titles: ['Checkout answers 500'] },
    reopened: { body: reopened, titles: ['Checkout answers 500'] },
    'a note': { body: note, titles: [] },
    'a service': { body: service, titles: [] },
    test: { body: ping, titles: [] },
    'an event': { body: sent, titles: ['Checkout answers 500'] },
    'an end by its key': { body: sentEnd, titles: [untitledAlert] },
  },
  life: { firing: triggered, resolved },
}));

describe("PagerDuty's signature", () => {
  const body = Buffer.from('{"event":"é"}');

  it('is of version 1 or is none', () => {
    const made = signature('s3cret', body);
    const verify = (header: string | string[]) =>
      input.verify({ headers: { 'x-pagerduty-signature': header }, body }, 's3cret');
    expect(verify(`v1=${made}`)).toBe(true);
    expect(verify([`v1=${'0'.repeat(64)}`, `v1=${made}`])).toBe(true);
    expect(verify(`v2=${made}`)).toBe(false);
    expect(verify(made)).toBe(false);
    expect(verify(`v1=v1=${made}`)).toBe(false);
  });
});

describe('an incident of PagerDuty', () => {
  it('says what it says', () => {
    expect(input.normalize(triggered)).toEqual([
      {
        fingerprint: 'PGR0VU2',
        status: 'firing',
        title: 'Checkout answers 500',
        severity: 'critical',
        startsAt: new Date('2026-03-01T12:16:27Z'),
        labels: {
          service: 'checkout',
          incident_number: '2',
          incident_key: 'd3640fbd41094207a1c11e58e46b1662',
          urgency: 'high',
          priority: 'P1',
          escalation_policy: 'Default',
          teams: 'Engineering, Shop',
        },
        group: 'PGR0VU2',
        services: ['checkout'],
        url: 'https://acme.pagerduty.com/incidents/PGR0VU2',
      },
    ]);
    expect(input.normalize(acknowledged)[0]?.status).toBe('acknowledged');
    expect(input.normalize(resolved)[0]).toMatchObject({
      status: 'resolved',
      endsAt: new Date('2026-03-01T12:26:00.500Z'),
    });
  });

  it('begins again when it is reopened', () => {
    expect(input.normalize(reopened)[0]).toMatchObject({
      status: 'firing',
      startsAt: new Date('2026-03-01T12:27:00Z'),
    });
  });

  it('is as severe as its urgency where it has no priority, or one of a name of their own', () => {
    expect(input.normalize(reopened)[0]?.severity).toBe('low');
    const own = {
      event_type: 'incident.triggered',
      data: { id: 'P1', type: 'incident', status: 'triggered', urgency: 'high', priority: { summary: 'Blue' } },
    };
    expect(input.normalize({ event: own })[0]?.severity).toBe('high');
  });

  it.each([
    ['no event', {}, /^event is missing; this is no body of PagerDuty's V3 webhooks/],
    ['no type', { event: { data: {} } }, /^event\.event_type is missing\.$/],
    ['no data', { event: { event_type: 'incident.triggered' } }, /^event\.data is missing\.$/],
    [
      'no id',
      { event: { event_type: 'incident.triggered', data: { type: 'incident', status: 'triggered' } } },
      /^event\.data\.id is missing\.$/,
    ],
    [
      'a status that there is not',
      { event: { event_type: 'incident.triggered', data: { type: 'incident', id: 'P1', status: 'open' } } },
      /^event\.data\.status: /,
    ],
    ['the webhook of version 2', { messages: [{ event: 'incident.trigger' }] }, /^event is missing; /],
  ])('is refused with %s, and it says where', (_name, body, message) => {
    expect(() => input.normalize(body)).toThrow(message);
  });

  it('is bounded, whatever it is', () => {
    holdsForAnyBody(input, ['event', 'data', 'event_type']);
  });
});

describe('an event for the Events API v2', () => {
  it('says what it says, and is known again by its key', () => {
    const [notice] = input.normalize(sent);
    expect(notice).toEqual({
      fingerprint: 'checkout/5xx',
      status: 'firing',
      title: 'Checkout answers 500',
      severity: 'high',
      startsAt: new Date('2026-03-01T12:16:28.169Z'),
      labels: {
        'deployment.environment.name': 'production',
        rate: '0.12',
        source: 'web-1.example.com',
        component: 'checkout',
        group: 'shop',
        class: 'http',
      },
      services: ['checkout'],
      environment: 'production',
      url: 'https://cron.example.com/jobs/7',
    });
    expect(input.normalize(sentAcknowledgement)).toMatchObject([
      { status: 'acknowledged', fingerprint: 'checkout/5xx' },
    ]);
    expect(input.normalize(sentEnd)).toMatchObject([{ status: 'resolved', fingerprint: 'checkout/5xx' }]);
    expect(JSON.stringify(notice)).not.toContain(sent.routing_key);
  });

  it('without a key is the same with the same summary, source and class', () => {
    const key = (payload: object) =>
      input.normalize({ ...sent, dedup_key: undefined, payload: { ...sent.payload, ...payload } })[0]?.fingerprint;
    expect(key({ severity: 'info', timestamp: null })).toBe(key({}));
    expect(key({ source: 'web-2.example.com' })).not.toBe(key({}));
  });

  it('brings the secret as its routing key, in a body of at most 512 kB', () => {
    const verify = (content: object, secret: string) =>
      input.verify({ headers: {}, body: Buffer.from(JSON.stringify(content)) }, secret);
    expect(verify(sent, sent.routing_key)).toBe(true);
    expect(verify(sent, `${sent.routing_key}0`)).toBe(false);
    expect(verify({ ...sent, routing_key: '' }, '')).toBe(false);
    expect(verify({ ...sent, routing_key: [sent.routing_key] }, sent.routing_key)).toBe(false);
    expect(verify({ nested: sent }, sent.routing_key)).toBe(false);
    expect(verify({ ...sent, more: 'x'.repeat(512 * 1024) }, sent.routing_key)).toBe(false);
  });

  it.each([
    ['an action that there is not', { event_action: 'open' }, /^event_action: expected trigger/],
    ['no summary', { payload: { summary: ' ' } }, /^payload\.summary is missing\.$/],
    ['an end of nothing', { event_action: 'resolve', dedup_key: '' }, /^dedup_key is missing\.$/],
    ['no action', { event_action: undefined }, /^event_action is missing\.$/],
  ])('is refused with %s, and it says where', (_name, wrong, message) => {
    expect(() => input.normalize({ ...sent, ...wrong })).toThrow(message);
  });

  it('is bounded, whatever it is', () => {
    holdsForAnyBody(input, ['routing_key', 'event_action', 'dedup_key', 'payload', 'links']);
  });
});
