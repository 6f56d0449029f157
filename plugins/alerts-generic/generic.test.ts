import { describe, expect, it } from '@jest/globals';
import * as runner from '@jest/globals';
import { alertsContract } from '../../test/contract/index.ts';
import { alertInput, broughtSecrets, holdsForAnyBody, now } from '../../test/support/alerts.ts';
import plugin from './index.ts';
import { firing, resolved, several } from './support/samples.ts';

const input = alertInput(plugin);

alertsContract(runner, () => ({
  input,
  proofs: broughtSecrets,
  samples: {
    'one alert': { body: firing, titles: ['Disk of db-1 is 95 % full'] },
    'its end': { body: resolved, titles: ['Disk of db-1 is 95 % full'] },
    'several in an object': { body: several, titles: ['Backup is late', 'Queue is long', 'Backup is late'] },
    'several in a list': { body: several.alerts, titles: ['Backup is late', 'Queue is long', 'Backup is late'] },
    none: { body: [], titles: [] },
  },
  life: { firing, resolved },
}));

describe('the generic alert', () => {
  it('says everything that it can say', () => {
    expect(input.normalize(firing)).toEqual([
      {
        fingerprint: 'disk-db-1',
        status: 'firing',
        title: 'Disk of db-1 is 95 % full',
        description: 'It grows by 2 % an hour.\nLook at the log volume.',
        severity: 'medium',
        startsAt: new Date('2026-03-01T12:00:00Z'),
        labels: { host: 'db-1', volume: '3', raid: 'true' },
        group: 'disks',
        services: ['checkout'],
        environment: 'production',
        url: 'https://example.com/disks/db-1',
      },
    ]);
  });

  it('needs a title only, and is then firing now', () => {
    const [notice] = input.normalize({ title: 'Something' });
    expect(notice).toMatchObject({ status: 'firing', severity: 'unknown', startsAt: now, labels: {}, services: [] });
  });

  it.each([
    ['no title', {}, /^title: /],
    ['a blank one', { title: ' ' }, /^title: expected a title/],
    ['a title of another kind in a list', [{ title: 'a' }, { title: 1 }], /^\[1\]\.title: /],
    ['a status that there is not', { alerts: [{ title: 'a', status: 'open' }] }, /^alerts\[0\]\.status: /],
    ['a time without its offset', { title: 'a', starts_at: '2026-03-01 12:00' }, /^starts_at: expected a time such as/],
    ['services that are no list', { title: 'a', services: 'checkout' }, /^services: /],
    ['labels that are no object', { title: 'a', labels: ['x'] }, /^labels: expected an object of texts/],
    ['a list that is none', { alerts: 'x' }, /^alerts: /],
    ['no object', 'alert', /^The body: /],
  ])('refuses %s and says where', (_name, body, message) => {
    expect(() => input.normalize(body)).toThrow(message);
  });

  it('is told apart by title, services, environment and labels, where it has no fingerprint', () => {
    const fingerprint = (body: object) => input.normalize({ title: 'a', ...body })[0]?.fingerprint;
    const first = fingerprint({ labels: { a: '1', b: '2' } });
    expect(fingerprint({ labels: { b: '2', a: '1' }, status: 'resolved', severity: 'low', description: 'x' })).toBe(
      first,
    );
    expect(fingerprint({ labels: { a: '1', b: '2' }, fingerprint: '' })).toBe(first);
    expect(fingerprint({ labels: { a: '1', b: '3' } })).not.toBe(first);
    expect(fingerprint({ labels: { a: '1', b: '2' }, services: ['x'] })).not.toBe(first);
    expect(fingerprint({ labels: { a: '1', b: '2' }, environment: 'x' })).not.toBe(first);
  });

  it('bounds whatever it is given', () => {
    holdsForAnyBody(input, [
      'title',
      'status',
      'severity',
      'fingerprint',
      'starts_at',
      'ends_at',
      'services',
      'environment',
      'labels',
      'url',
      'description',
      'group',
    ]);
  });
});
