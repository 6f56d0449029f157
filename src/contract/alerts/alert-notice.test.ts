import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noticeFaults } from '../../../test/contract/index.ts';
import { alertNotice, alertTime, severityOf, type AlertDraft } from './alert-notice.ts';

const now = new Date('2026-03-01T12:30:00Z');
const draft: AlertDraft = { fingerprint: 'a', status: 'firing', title: 'T', severity: 'high', labels: {} };

describe('severityOf', () => {
  it.each([
    [
      'critical',
      [
        'critical',
        'Critical',
        ' PAGE ',
        'P0',
        'P1',
        'p1',
        'SEV-0',
        'SEV-1',
        'sev1',
        'SEV 1: all down',
        '1',
        'P1 - Critical',
        'fatal',
      ],
    ],
    ['high', ['P2', '2', 'SEV-2', 'sev_2', 'Major', 'error', 'high']],
    ['medium', ['P3', 'SEV-3', 'warning', 'warn', 'Minor', 'medium']],
    ['low', ['P4', 'P5', 'SEV-4', 'SEV-5', 'info', 'low']],
    [
      'unknown',
      ['', 'P6', 'P10', '6', '10', '2.5', 'p', 'sev', 'page 2', 'none', '__proto__', 'constructor', undefined, null],
    ],
  ] as const)('reads %s', (severity, words) => {
    for (const word of words) expect(`${word}: ${severityOf(word)}`).toBe(`${word}: ${severity}`);
  });
});

describe('alertTime', () => {
  it('reads RFC 3339 with its offset, to the nanosecond, and milliseconds since 1970', () => {
    expect(alertTime('2018-08-03T09:52:26.739266876+02:00')).toEqual(new Date('2018-08-03T07:52:26.739Z'));
    expect(alertTime('1406662672000')).toEqual(new Date(1_406_662_672_000));
  });

  it.each([
    ['2026-03-01T12:00:00', '2026-03-01T12:00:00Z'],
    ['2026-03-01 12:00:00.5', '2026-03-01T12:00:00.500Z'],
    ['2026-03-01 13:00:00 +01:00', '2026-03-01T12:00:00Z'],
    ['2022-03-04T11:38:59.002+0000', '2022-03-04T11:38:59.002Z'],
    ['2026-03-01 12:00:00 UTC', '2026-03-01T12:00:00Z'],
    ['1772366400', '2026-03-01T12:00:00Z'],
    ['1772366400.25', '2026-03-01T12:00:00.250Z'],
    ['1772366400000000', '2026-03-01T12:00:00Z'],
    ['1772366400000000000', '2026-03-01T12:00:00Z'],
  ])('reads %j as senders mean it', (text, time) => expect(alertTime(text)).toEqual(new Date(time)));

  it.each(['', 'yesterday', '2026-03-01', '2026-13-01T12:00:00Z', '5', '20260301120000123456', undefined])(
    'does not read %j',
    (text) => expect(alertTime(text)).toBeUndefined(),
  );
});

describe('alertNotice', () => {
  it('takes a start that is not known or cannot be meant for the end, or else for now', () => {
    const start = (text: string | undefined, end?: string) =>
      alertNotice({ ...draft, status: 'resolved', startsAt: alertTime(text), endsAt: alertTime(end) }, now).startsAt;
    expect(start('2026-03-01T12:00:00Z')).toEqual(new Date('2026-03-01T12:00:00Z'));
    expect(start('2026-03-01T13:29:00Z')).toEqual(new Date('2026-03-01T13:29:00Z'));
    for (const absurd of ['0001-01-01T00:00:00Z', '2026-03-01T13:31:00Z', '9999-01-01T00:00:00Z', undefined]) {
      expect(start(absurd)).toEqual(now);
      expect(start(absurd, '2026-03-01T12:10:00Z')).toEqual(new Date('2026-03-01T12:10:00Z'));
    }
  });

  it('ends a resolved alert only, now where the end is not known, and never before its start', () => {
    const end = (status: AlertDraft['status'], text?: string) =>
      alertNotice({ ...draft, status, startsAt: alertTime('2026-03-01T12:00:00Z'), endsAt: alertTime(text) }, now)
        .endsAt;
    expect(end('resolved', '2026-03-01T12:10:00Z')).toEqual(new Date('2026-03-01T12:10:00Z'));
    expect(end('resolved', '2026-03-01T11:10:00Z')).toEqual(new Date('2026-03-01T12:00:00Z'));
    expect(end('resolved')).toEqual(now);
    expect(end('firing', '2026-03-01T12:10:00Z')).toBeUndefined();
    expect(end('acknowledged', '2026-03-01T12:10:00Z')).toBeUndefined();
  });

  it.each([
    ['https://example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
    ['http://prometheus:9090/graph', 'http://prometheus:9090/graph'],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['//example.com', undefined],
    ['https://user:password@example.com/', undefined],
    [`https://example.com/${'x'.repeat(2_000)}`, undefined],
    ['https://example.com/\u0000<script>', 'https://example.com/%00%3Cscript%3E'],
  ])('takes the address %j as %j', (given, url) => {
    expect(alertNotice({ ...draft, urls: [null, '', given] }, now).url).toBe(url);
  });

  it('cuts no character in two, and says that it cut', () => {
    const title = alertNotice({ ...draft, title: '😀'.repeat(400) }, now).title;
    expect(title).toBe(`${'😀'.repeat(149)}…`);
  });

  it('never cuts what tells alerts or groups apart', () => {
    const long = 'x'.repeat(10_000);
    const of = (text: string) => alertNotice({ ...draft, fingerprint: text, group: text }, now);
    expect(of('{}:{a="b"}')).toMatchObject({ fingerprint: '{}:{a="b"}', group: '{}:{a="b"}' });
    expect(of(`${long}a`).fingerprint).not.toBe(of(`${long}b`).fingerprint);
    expect(of(`${long}a`).group).not.toBe(of(`${long}b`).group);
    expect(of('a\n').fingerprint).not.toBe(of('a').fingerprint);
  });

  it('keeps its bounds whatever it is given', () => {
    const text = fc.string({ unit: 'binary', maxLength: 320 });
    const drafts: fc.Arbitrary<AlertDraft> = fc.record({
      fingerprint: text,
      status: fc.constantFrom('firing', 'acknowledged', 'resolved'),
      title: text,
      description: text,
      severity: fc.constant('high'),
      startsAt: fc.date({ noInvalidDate: false }),
      endsAt: fc.date({ noInvalidDate: false }),
      labels: fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
      group: text,
      services: fc.array(text, { maxLength: 4 }),
      environment: text,
      urls: fc.array(fc.oneof(text, fc.webUrl()), { maxLength: 3 }),
    });
    fc.assert(fc.property(drafts, (each) => noticeFaults(alertNotice(each, now)).length === 0));
  });
});
