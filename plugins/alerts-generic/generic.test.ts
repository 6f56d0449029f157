import { describe, expect, it } from '@jest/globals';
import * as runner from '@jest/globals';
import { alertsContract } from '../../test/contract/index.ts';
import { alertInput, broughtSecrets, holdsForAnyBody, now, readWith, signature } from '../../test/support/alerts.ts';
import plugin from './index.ts';
import {
  cloudwatch,
  firing,
  kubernetesEvent,
  newRelic,
  opsgenie,
  resolved,
  sentryEvent,
  sentryIssue,
  sentryMetric,
  several,
  sns,
  snsConfirmation,
  uptimeKuma,
  uptimeKumaTest,
  zabbix,
} from './support/samples.ts';

const input = alertInput(plugin);

alertsContract(runner, () => ({
  input,
  proofs: {
    ...broughtSecrets,
    "Sentry's signature": {
      signs: true,
      headers: (body, secret) => ({ 'sentry-hook-signature': signature(secret, body) }),
    },
  },
  samples: {
    'one alert': { body: firing, titles: ['Disk of db-1 is 95 % full'] },
    'its end': { body: resolved, titles: ['Disk of db-1 is 95 % full'] },
    'several in an object': { body: several, titles: ['Backup is late', 'Queue is long', 'Backup is late'] },
    'several in a list': { body: several.alerts, titles: ['Backup is late', 'Queue is long', 'Backup is late'] },
    none: { body: [], titles: [] },
    Opsgenie: { body: opsgenie, titles: ['Checkout answers 500'] },
    'CloudWatch through SNS': { body: sns(cloudwatch()), titles: ['payment-5xx'] },
    "SNS's confirmation": { body: snsConfirmation, titles: [] },
    'Sentry: issue': { body: sentryIssue('created', 'unresolved'), titles: ['ReferenceError: heck is not defined'] },
    'Sentry: issue alert': { body: sentryEvent, titles: ['ReferenceError: heck is not defined'] },
    'Sentry: metric alert': { body: sentryMetric('critical'), titles: ['Too many errors'] },
    'New Relic': {
      body: newRelic('ACTIVATED'),
      titles: ["Error percentage > 2.5% for at least 5 minutes on 'cart'"],
    },
    Zabbix: { body: zabbix('1'), titles: ['High CPU utilization (over 90% for 5m)'] },
    'Uptime Kuma': { body: uptimeKuma(0), titles: ['Shop'] },
    'Uptime Kuma: test': { body: uptimeKumaTest, titles: [] },
    'Kubernetes event': {
      body: kubernetesEvent('Warning'),
      titles: ['Back-off restarting failed container mail in pod mail'],
    },
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
    ['no title', {}, /^title is missing; /],
    ['a blank one', { title: ' ' }, /^title: expected a title/],
    ['a list of nothing that it knows', [{ title: '' }, { x: 1 }], /^\[0\]\.title: expected a title/],
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

  it.each([
    ['firing', ['firing', 'Alerting', 'OPEN', 'triggered', 'down', 'error']],
    ['acknowledged', ['acknowledged', 'Ack']],
    ['resolved', ['resolved', 'ok', 'OK', 'Closed', 'recovered', 'up', 'normal']],
  ])('is %s in the words of senders', (status, words) => {
    for (const word of words) {
      expect([word, readWith(input, { title: 'a', status: word })]).toMatchObject([
        word,
        { notices: [{ status }], warnings: [] },
      ]);
    }
  });

  it('takes times as they come, severities in numbers and services in one text', () => {
    const of = (more: object) => readWith(input, { title: 'a', ...more });
    const at = { startsAt: new Date('2026-03-01T12:00:00Z') };
    for (const starts_at of [1_772_366_400, '1772366400000', 1_772_366_400_000, '2026-03-01T13:00:00+01:00']) {
      expect(of({ starts_at })).toMatchObject({ notices: [at], warnings: [] });
    }
    expect(of({ starts_at: '2026-03-01 12:00:00' })).toMatchObject({
      notices: [at],
      warnings: ['starts_at: a time without its zone; it is read as UTC.'],
    });
    expect(of({ starts_at: 'yesterday' })).toMatchObject({
      notices: [{ startsAt: now }],
      warnings: [expect.stringMatching(/^starts_at: no time that is understood/)],
    });
    expect(of({ severity: 2 }).notices[0]?.severity).toBe('high');
    expect(of({ services: 'checkout, payment' }).notices[0]?.services).toEqual(['checkout', 'payment']);
    expect(of({ status: 'purple' })).toMatchObject({
      notices: [{ status: 'firing' }],
      warnings: ['status: a word that is not known; the alert is taken for one that fires.'],
    });
  });

  it('warns once of each field that is left out or guessed', () => {
    const of = (more: object) => readWith(input, { title: 'a', ...more });
    const body = {
      title: 'bad url',
      url: 'javascript:alert(1)',
      labels: { a: { b: 1 }, c: null, d: 1 },
      starts_at: '2030-01-01T00:00:00Z',
      ends_at: 'x',
      severity: 'whatever',
      description: { text: 'x' },
      group: ['', 'x'],
      fingerprint: ['x'],
      services: [{ name: 'cart' }, 'checkout'],
      servces: 'cart',
      message: 'x',
    };
    const { notices, warnings } = readWith(input, body);
    expect(notices).toMatchObject([{ severity: 'unknown', startsAt: now, labels: { d: '1' }, services: ['checkout'] }]);
    expect(warnings).toEqual([
      'fingerprint: expected a text; it is left out.',
      'description: expected a text; it is left out.',
      'severity: a word that is not known; the severity is unknown.',
      'group: expected a text; it is left out.',
      'starts_at: more than ten years ago, or an hour ahead; it is left out.',
      'url: no http or https address, or one with a password in it; it is left out.',
      'services: expected names; what is no text is left out.',
      'labels: 1 of 2 are left out: a value is a text, a number or a boolean, and 64 are kept.',
      'The body: there is no such key, and it is left out: "servces" (did you mean services?), "message".',
      'ends_at: the alert is not resolved; it is left out.',
    ]);
    expect(
      of({ status: 'resolved', starts_at: '2026-03-01T12:00:00Z', ends_at: '2026-03-01T11:00:00Z' }).warnings,
    ).toEqual(['ends_at: before the start, or more than an hour ahead; it is left out.']);
    expect(of({ services: Array.from({ length: 21 }, (_, index) => `s${index}`) }).warnings).toEqual([
      'services: more than 20; the others are left out.',
    ]);
    for (const severity of ['unknown', 'none', '', null]) expect(of({ severity }).warnings).toEqual([]);
    expect(of({ url: null, labels: {}, services: [], starts_at: '' }).warnings).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${index}${'x'.repeat(100)}`, 1]));
    expect(of(many).warnings).toEqual([expect.stringMatching(/^The body: .{50,250}, 995 more\.$/)]);
    expect(readWith(input, { alerts: [{ title: 'a', sevrity: 'high' }] }).warnings).toEqual([
      'alerts[0]: there is no such key, and it is left out: "sevrity" (did you mean severity?).',
    ]);
  });

  it('may name one service as service', () => {
    expect(readWith(input, { title: 'a', service: 'cart', services: ['checkout'] })).toMatchObject({
      notices: [{ services: ['checkout', 'cart'] }],
      warnings: [],
    });
  });

  it('in a list is taken beside one that is not understood, with a word of that', () => {
    const { notices, warnings } = readWith(input, { alerts: [{ title: 'a' }, { x: 1 }, 5, { title: 'b' }] });
    expect(notices.map(({ title }) => title)).toEqual(['a', 'b']);
    expect(warnings).toEqual([
      'Left out: alerts[1].title is missing; no mapping is for this body.',
      'Left out: alerts[2]: expected an object.',
    ]);
  });

  it('of an unknown sender is taken with a warning where something in it looks like a title', () => {
    const body = { alert_name: 'Queue is long', state: 'alerting', priority: 'P1', tags: ['queue:mail'], secret: 'x' };
    expect(readWith(input, body)).toMatchObject({
      notices: [{ title: 'Queue is long', status: 'firing', severity: 'critical', labels: { queue: 'mail' } }],
      warnings: ['alert_name: taken for the title; no mapping is for this body.'],
    });
    const [ended] = input.normalize({ ...body, state: 'ok' });
    expect(ended).toMatchObject({ status: 'resolved', fingerprint: input.normalize(body)[0]?.fingerprint });
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

describe('a sender that is known', () => {
  const start = new Date('2026-03-01T12:00:00Z');

  it.each<[string, unknown, object]>([
    [
      'Opsgenie',
      opsgenie,
      {
        fingerprint: opsgenie.alert.alertId,
        severity: 'high',
        startsAt: start,
        services: ['checkout'],
        labels: { env: 'production', shop: '', region: 'eu', alias: 'checkout-5xx' },
        environment: 'production',
      },
    ],
    [
      'CloudWatch',
      sns(cloudwatch()),
      {
        fingerprint: expect.stringContaining('alarm:payment-5xx'),
        startsAt: start,
        services: ['payment'],
        labels: { ClusterName: 'shop', ServiceName: 'payment', Namespace: 'AWS/ECS' },
        description: expect.stringMatching(/^Threshold Crossed/),
      },
    ],
    [
      'Sentry',
      sentryEvent,
      {
        fingerprint: '1170820242',
        severity: 'high',
        environment: 'production',
        labels: { service: 'search', triggered_rule: 'Very Important Alert Rule!' },
      },
    ],
    ['Sentry', sentryMetric('critical'), { severity: 'critical', services: ['search'], startsAt: start }],
    ['New Relic', newRelic('ACTIVATED'), { severity: 'critical', services: ['cart'], startsAt: start }],
    ['Zabbix', zabbix('1'), { severity: 'high', startsAt: start, labels: { host_name: 'db-1' } }],
    ['Uptime Kuma', uptimeKuma(0), { url: 'https://shop.example.com/', environment: 'production' }],
    [
      'Kubernetes',
      kubernetesEvent('Warning'),
      { severity: 'medium', startsAt: start, labels: { pod: 'mail-7d9f8c6b5-x2kq9', reason: 'BackOff' } },
    ],
  ])('is read: %s', (_name, body, said) => {
    expect(readWith(input, body)).toMatchObject({ notices: [{ status: 'firing', ...said }], warnings: [] });
  });

  const life: readonly (readonly [string, object, object])[] = [
    ['Opsgenie', opsgenie, { ...opsgenie, action: 'Close' }],
    ['CloudWatch', sns(cloudwatch()), sns(cloudwatch('OK'))],
    ['CloudWatch, raw', cloudwatch(), cloudwatch('OK')],
    ['Sentry', sentryEvent, sentryIssue('resolved', 'resolved')],
    ['Sentry, metric', sentryMetric('warning'), sentryMetric('resolved')],
    ['New Relic', newRelic('ACTIVATED'), newRelic('CLOSED')],
    ['Zabbix', zabbix('1'), zabbix('0')],
    ['Uptime Kuma', uptimeKuma(0), uptimeKuma(1)],
  ];
  it.each(life)('is known again when it is over: %s', (_name, begun, over) => {
    const [[from], [to]] = [input.normalize(begun), input.normalize(over)];
    expect([from?.status, to?.status]).toEqual(['firing', 'resolved']);
    expect(to?.fingerprint).toBe(from?.fingerprint);
    expect(readWith(input, over).warnings).toEqual([]);
  });

  it.each<[string, unknown, RegExp | undefined]>([
    ['a note in Opsgenie', { ...opsgenie, action: 'AddNote' }, undefined],
    ['too little data in CloudWatch', sns(cloudwatch('INSUFFICIENT_DATA')), undefined],
    ['a normal event of Kubernetes', kubernetesEvent('Normal'), undefined],
    ['a pending monitor', uptimeKuma(2), undefined],
    ['a test of Uptime Kuma', uptimeKumaTest, /^heartbeat\.status: says of no alert that it fires/],
    ['the end of a subscription', sns('x', { Type: 'UnsubscribeConfirmation' }), /^Type: the subscription is ended/],
  ])('says nothing of an alert: %s', (_name, body, warning) => {
    const { notices, warnings } = readWith(input, body);
    expect(notices).toEqual([]);
    expect(warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
  });

  it('begins again where Sentry reopens an issue, of which it goes on to say when it was first seen', () => {
    const [begun, again] = ['created', 'unresolved'].flatMap((action) => input.normalize(sentryIssue(action, action)));
    expect(begun?.startsAt).toEqual(new Date('2026-03-01T11:58:37.391Z'));
    expect(again).toMatchObject({ status: 'firing', fingerprint: begun?.fingerprint, startsAt: now });
  });

  it('is acknowledged: Opsgenie, Sentry', () => {
    expect(input.normalize({ ...opsgenie, action: 'Acknowledge' })[0]?.status).toBe('acknowledged');
    expect(input.normalize(sentryIssue('assigned', 'unresolved'))[0]?.status).toBe('acknowledged');
  });

  it('may be described in the config, before those that are known', () => {
    const mappings = [
      {
        name: 'Backups',
        has: ['run.id', 'jobs'],
        alerts: 'jobs',
        title: ['what', 'name'],
        status: 'result',
        statuses: { broken: 'firing', fine: 'resolved', '*': 'ignored' },
        severity: 'grade',
        severities: { a: 'critical' },
        fingerprint: ['host', 'name'],
        starts_at: 'times.0',
        services: 'owner',
        labels: ['host', 'more'],
      },
      { name: 'Mine', has: ['action', 'alert.alertId'], title: 'alert.alias' },
    ];
    const own = alertInput(plugin, { mappings });
    const job = (result: string, name: string) => ({
      name,
      result,
      grade: 'A',
      host: 'db-1',
      times: [1_772_366_400],
      owner: 'checkout',
      more: { disk: 3 },
    });
    const jobs = [job('broken', 'dump'), job('fine', 'copy'), job('skipped', 'move'), { host: 'db-2' }];
    expect(readWith(own, { run: { id: 7 }, jobs })).toMatchObject({
      notices: [
        {
          fingerprint: 'db-1 dump',
          status: 'firing',
          title: 'dump',
          severity: 'critical',
          startsAt: start,
          services: ['checkout'],
          labels: { host: 'db-1', disk: '3' },
        },
        { fingerprint: 'db-1 copy', status: 'resolved' },
      ],
      warnings: ['Left out: jobs[3].what: expected a title.'],
    });
    expect(own.normalize(opsgenie)[0]?.title).toBe('checkout-5xx');
    expect(own.normalize(newRelic('CLOSED'))[0]?.status).toBe('resolved');
    for (const wrong of [{ name: 'x' }, { name: 'x', has: [], title: 'a', titel: 'b' }]) {
      expect(() => alertInput(plugin, { mappings: [wrong] })).toThrow();
    }
  });
});

describe('a message of Amazon SNS', () => {
  const confirmation = (more: object) => input.confirmation?.({ ...snsConfirmation, ...more });

  it('is confirmed at the address of its region, whatever address it names', () => {
    const { Token: token } = snsConfirmation;
    const query = `?Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012%3Aalarms&Token=${token}`;
    const address = `https://sns.eu-west-1.amazonaws.com/${query}`;
    expect(confirmation({})).toBe(address);
    expect(confirmation({ SubscribeURL: 'http://169.254.169.254/latest/meta-data/' })).toBe(address);
    const china = confirmation({ TopicArn: 'arn:aws-cn:sns:cn-north-1:123456789012:alarms.fifo' }) ?? '';
    expect(new URL(china).host).toBe('sns.cn-north-1.amazonaws.com.cn');
    expect(input.confirmation?.(sns(cloudwatch()))).toBeUndefined();
    expect(input.confirmation?.(null)).toBeUndefined();
  });

  it.each([
    'arn:aws:sns:eu-west-1.evil.example:123456789012:a',
    'arn:aws:sns:evil.example/:123456789012:a',
    'arn:aws:sns:eu-west-1@evil.example:123456789012:a',
    'arn:aws:sqs:eu-west-1:123456789012:a',
    'arn:aws:sns:eu-west-1:1:a',
    'arn:aws:sns:eu-west-1:123456789012:a b',
    '',
  ])('is not confirmed for the topic %j', (TopicArn) => {
    expect(confirmation({ TopicArn })).toBeUndefined();
    expect(readWith(input, { ...snsConfirmation, TopicArn }).warnings).toHaveLength(1);
  });

  it.each(['', 'a&Action=Publish', 'x'.repeat(1_001), 5])('is not confirmed with the token %j', (Token) => {
    expect(confirmation({ Token })).toBeUndefined();
  });

  it('that is a text is an alert with a warning', () => {
    expect(readWith(input, sns('The budget is used up.'))).toMatchObject({
      notices: [{ title: 'ALARM: "payment-5xx" in EU (Ireland)', description: 'The budget is used up.' }],
      warnings: ['subject: taken for the title; no mapping is for this body.'],
    });
  });

  it('carries our own format, too', () => {
    expect(input.normalize(sns(firing))[0]?.fingerprint).toBe('disk-db-1');
  });
});
