import { describe, expect, it } from '@jest/globals';
import * as runner from '@jest/globals';
import { alertsContract } from '../../test/contract/index.ts';
import { alertInput, broughtSecrets, holdsForAnyBody, readWith } from '../../test/support/alerts.ts';
import plugin, { template } from './index.ts';
import { noData, recovered, renotified, test, triggered, warned } from './support/samples.ts';

const input = alertInput(plugin);

alertsContract(runner, () => ({
  input,
  proofs: broughtSecrets,
  samples: {
    triggered: { body: triggered, titles: ['Error rate of checkout'] },
    'triggered again': { body: renotified, titles: ['Error rate of checkout'] },
    recovered: { body: recovered, titles: ['Error rate of checkout'] },
    warned: { body: warned, titles: ['Disks are filling'] },
    'no data': { body: noData, titles: ['Disks are filling'] },
    test: { body: test, titles: ['Disks are filling'] },
  },
  life: { firing: triggered, resolved: recovered },
}));

describe('an alert of Datadog', () => {
  it('says what it says', () => {
    expect(input.normalize(triggered)).toEqual([
      {
        fingerprint: '7716548234011200000',
        status: 'firing',
        title: 'Error rate of checkout',
        description: 'More than 5 % of the requests fail.\n\n@webhook-sightline\n\nMetric value: 0.08',
        severity: 'high',
        startsAt: new Date(1_772_367_300_000),
        labels: {
          env: 'production',
          monitor: '',
          service: 'checkout, payment',
          team: 'shop',
          monitor_id: '148275309',
          scope: 'env:production,service:checkout',
          query: 'avg(last_5m):sum:trace.http.request.errors{*} by {service,env} > 0.05',
          organization: 'Acme',
        },
        group: '148275309',
        services: ['checkout', 'payment'],
        environment: 'production',
        url: 'https://app.datadoghq.com/event/event?id=7716548234011234567',
      },
    ]);
    expect(input.normalize(recovered)[0]?.endsAt).toEqual(new Date(1_772_367_900_000));
  });

  it.each([
    [triggered, 'firing', 'high'],
    [renotified, 'firing', 'high'],
    [recovered, 'resolved', 'high'],
    [warned, 'firing', 'medium'],
    [{ ...warned, transition: 'Re-Warn' }, 'firing', 'medium'],
    [{ ...warned, transition: 'Renotify', type: 'info' }, 'firing', 'low'],
    [noData, 'firing', 'high'],
    [{ ...noData, transition: 'Re-No Data' }, 'firing', 'high'],
    [test, 'firing', 'medium'],
  ])('has a status and a severity by its transition, priority and type (%#)', (body, status, severity) => {
    expect(input.normalize(body)[0]).toMatchObject({ status, severity });
  });

  it('is the same until it recovers; without a cycle, monitor and scope tell it', () => {
    const fingerprint = (body: object) => input.normalize(body)[0]?.fingerprint;
    expect(fingerprint(renotified)).toBe(fingerprint(triggered));
    const scoped = { ...triggered, cycle: '' };
    expect(fingerprint({ ...scoped, scope: 'service:checkout, env:production', transition: 'Recovered' })).toBe(
      fingerprint(scoped),
    );
    expect(fingerprint({ ...scoped, scope: 'service:cart' })).not.toBe(fingerprint(scoped));
    expect(fingerprint({ ...scoped, monitor_id: '2' })).not.toBe(fingerprint(scoped));
  });

  it('of no monitor is told by its title and scope, with a warning; a test of no monitor opens nothing', () => {
    const { notices, warnings } = readWith(input, { ...triggered, monitor_id: '', cycle: '' });
    expect(notices).toMatchObject([{ status: 'firing', title: 'Error rate of checkout' }]);
    expect(warnings).toEqual([expect.stringMatching(/^monitor_id is missing/)]);
    const again = input.normalize({ ...recovered, monitor_id: '$ALERT_ID', cycle: '' });
    expect(again).toMatchObject([{ status: 'resolved', fingerprint: notices[0]?.fingerprint }]);
    const tests = [{ ...template, title: 'Test' }, template, { ...test, monitor_id: '' }];
    for (const each of tests) {
      expect(readWith(input, each)).toEqual({ notices: [], warnings: [expect.stringMatching(/^This is a test/)] });
    }
    expect(input.normalize(test)).toHaveLength(1);
  });

  it.each(['transition', 'title'])('is refused without %s, and it says so', (name) => {
    const missing = new RegExp(`^${name} is missing; `);
    expect(() => input.normalize({ ...triggered, [name]: undefined })).toThrow(missing);
    expect(() => input.normalize({ ...triggered, [name]: '$ALERT_ID' })).toThrow(missing);
  });

  it('is read from the fields of the template that the instructions give', () => {
    const text = input.instructions({ url: 'https://sightline.example.com/x', secret: 's3cret' });
    expect(text).toContain(JSON.stringify(template, null, 2));
    expect(Object.keys(triggered)).toEqual(Object.keys(template));
  });

  it('is bounded, whatever it is', () => {
    holdsForAnyBody(input, Object.keys(template));
  });
});
