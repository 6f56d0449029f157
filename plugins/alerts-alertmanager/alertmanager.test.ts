import { describe, expect, it } from '@jest/globals';
import * as runner from '@jest/globals';
import { alertsContract, type AlertProof } from '../../test/contract/index.ts';
import { alertInput, broughtSecrets, holdsForAnyBody, now, readWith, signature } from '../../test/support/alerts.ts';
import plugin from './index.ts';
import { firing, grafanaFiring, grafanaResolved, grafanaTest, resolved, truncated } from './support/samples.ts';

const input = alertInput(plugin);

const signed: AlertProof = {
  signs: true,
  headers: (body, secret) => ({ 'x-grafana-alerting-signature': signature(secret, body) }),
};

const signedAt = (time: string): AlertProof => ({
  signs: true,
  headers: (body, secret) => ({
    'x-grafana-alerting-signature': signature(secret, `${time}:`, body),
    'x-grafana-alerting-timestamp': time,
  }),
});

const seconds = Math.floor(now.getTime() / 1_000);

alertsContract(runner, () => ({
  input,
  proofs: { ...broughtSecrets, "Grafana's signature": signed, 'the same with the time': signedAt(String(seconds)) },
  samples: {
    'Alertmanager: firing': { body: firing, titles: ['checkout fails'] },
    'Alertmanager: resolved': { body: resolved, titles: ['checkout fails'] },
    'Alertmanager: several, truncated': { body: truncated, titles: ['checkout fails', 'HighErrorRate'] },
    'Grafana: firing': { body: grafanaFiring, titles: ['cart uses 91 % of its memory'] },
    'Grafana: resolved': { body: grafanaResolved, titles: ['cart uses 91 % of its memory'] },
    'Grafana: test': { body: grafanaTest, titles: ['Notification test'] },
  },
  life: { firing, resolved },
}));

describe("Grafana's signature", () => {
  const body = Buffer.from(JSON.stringify(grafanaFiring));

  it.each([
    [seconds - 299, true],
    [seconds + 299, true],
    [seconds - 301, false],
    [seconds + 301, false],
  ])('holds for five minutes: signed at %d', (time, holds) => {
    expect(input.verify({ headers: signedAt(String(time)).headers(body, 's3cret'), body }, 's3cret')).toBe(holds);
  });

  it.each(['', 'now', '-1', '1e9', `${seconds}.5`, ' 1'])('refuses %j for a time, rightly signed', (time) => {
    expect(input.verify({ headers: signedAt(time).headers(body, 's3cret'), body }, 's3cret')).toBe(false);
  });

  it('covers the time: without it, or with another, it does not match', () => {
    const { 'x-grafana-alerting-signature': made } = signedAt(String(seconds)).headers(body, 's3cret');
    const verify = (time: string | undefined) =>
      input.verify(
        { headers: { 'x-grafana-alerting-signature': made, 'x-grafana-alerting-timestamp': time }, body },
        's3cret',
      );
    expect([verify(String(seconds)), verify(undefined), verify(String(seconds + 1))]).toEqual([true, false, false]);
  });

  it('is refused where it is wrong, though the secret is brought too', () => {
    const headers = { ...signed.headers(body, 'another'), authorization: 'Bearer s3cret' };
    expect(input.verify({ headers, body }, 's3cret')).toBe(false);
  });
});

describe('an alert of Alertmanager', () => {
  it('says what it says', () => {
    const { labels } = firing.alerts[0] ?? {};
    expect(input.normalize(firing)).toEqual([
      {
        fingerprint: '1a30ba71cca2921f',
        status: 'firing',
        title: 'checkout fails',
        description: 'More than 5 % of the requests of checkout have failed for 5 minutes.',
        severity: 'critical',
        startsAt: new Date('2026-03-01T11:09:26.739Z'),
        labels,
        group: '{}/{severity="critical"}:{alertname="HighErrorRate"}',
        services: [],
        environment: 'production',
        url: 'http://prometheus.example.com:9090/graph?g0.expr=rate%28errors%5B5m%5D%29+%3E+0.05&g0.tab=1',
      },
    ]);
    expect(input.normalize(resolved)[0]?.endsAt).toEqual(new Date('2026-03-01T11:24:26.739Z'));
  });

  it('is known by its labels where there is no fingerprint, in any order of them, and has the address of the group', () => {
    const [, second] = truncated.alerts;
    const again = {
      alerts: [
        { ...second, fingerprint: '', labels: { severity: 'warning', service: 'payment', alertname: 'HighErrorRate' } },
      ],
    };
    const [, notice] = input.normalize(truncated);
    expect(notice?.fingerprint).toMatch(/^[\da-f]{64}$/);
    expect(input.normalize(again)[0]?.fingerprint).toBe(notice?.fingerprint);
    expect(notice?.url).toBe('http://alertmanager.example.com:9093/');
  });

  it.each([
    ['no alerts', { version: '4' }, /^alerts is missing; this is no body of Alertmanager's webhook, version 4\.$/],
    ['alerts without labels', { alerts: [{ status: 'firing' }] }, /^alerts\[0\]\.labels: expected an object of texts/],
    ['a status that there is not', { alerts: [{ labels: {}, status: 'pending' }] }, /^alerts\[0\]\.status: /],
    [
      'a thousand and one of these',
      { alerts: Array.from({ length: 1_001 }, () => ({})) },
      /^alerts\[0\]\.status is missing\.$/,
    ],
    ['null', null, /^The body: /],
  ])('is refused with %s, and it says where', (_name, body, message) => {
    expect(() => input.normalize(body)).toThrow(message);
  });

  it('is taken beside one that cannot be read, and the first thousand of more, with a word of each', () => {
    const [alert] = firing.alerts;
    const mixed = readWith(input, { ...firing, alerts: [alert, { status: 'firing' }, alert] });
    expect(mixed.notices).toHaveLength(2);
    expect(mixed.warnings).toEqual(['Left out: alerts[1].labels: expected an object of texts.']);
    const many = readWith(input, { ...firing, alerts: Array.from({ length: 1_234 }, () => alert) });
    expect(many.notices).toHaveLength(1_000);
    expect(many.warnings).toEqual(['alerts: 234 of 1,234 alerts are left out; a request brings at most 1,000.']);
    expect(readWith(input, truncated).warnings).toEqual(['truncatedAlerts: 3 alerts are left out by the sender.']);
  });

  it('is bounded, whatever it is', () => {
    holdsForAnyBody(input, [
      'status',
      'labels',
      'annotations',
      'startsAt',
      'endsAt',
      'generatorURL',
      'fingerprint',
      'groupKey',
      'externalURL',
    ]);
  });
});

describe('an alert of Grafana', () => {
  it('says what it says', () => {
    expect(input.normalize(grafanaResolved)[0]).toMatchObject({
      fingerprint: 'c6eadffa33fcdf37',
      status: 'resolved',
      severity: 'high',
      startsAt: new Date('2026-03-01T12:10:00Z'),
      endsAt: new Date('2026-03-01T12:25:00Z'),
      environment: 'staging',
      url: 'https://grafana.example.com/alerting/grafana/1afz29v7z/view?orgId=1',
    });
  });
});
