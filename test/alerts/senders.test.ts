import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { firing, grafanaTest } from '../../plugins/alerts-alertmanager/support/samples.ts';
import { test as datadogTest, triggered } from '../../plugins/alerts-datadog/support/samples.ts';
import * as generic from '../../plugins/alerts-generic/support/samples.ts';
import { sent, sentAcknowledgement, sentEnd } from '../../plugins/alerts-pagerduty/support/samples.ts';
import { signature } from '../support/alerts.ts';
import { callTool } from '../support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../support/gateway.ts';

/* What senders post by themselves, to a gateway as it is run. */

const source = z.object({ id: z.string(), url: z.string(), secret: z.string() });
type Source = z.output<typeof source>;
const listed = z.object({
  incidents: z.array(
    z.object({
      key: z.string(),
      title: z.string(),
      status: z.string(),
      severity: z.string(),
      services: z.array(z.string()),
    }),
  ),
});

let directory = '';
let gateway: RunningGateway;
let token = '';
let sources: Readonly<Record<'alertmanager' | 'datadog' | 'generic' | 'pagerduty', Source>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const mappings = [
    {
      name: 'Backups',
      has: ['backup', 'state'],
      title: 'backup',
      status: 'state',
      fingerprint: 'backup',
      services: 'app',
    },
  ];
  const alerts = [
    { plugin: 'alertmanager' },
    { plugin: 'datadog' },
    { plugin: 'pagerduty' },
    { plugin: 'generic', mappings },
  ];
  // It ends in no test: a finished investigation names a service where the alert named none.
  const agent = { plugin: join(root, 'test/support/slow-agent.ts'), steps: 1, stepMs: 600_000 };
  await writeFile(join(directory, 'sightline.config.json'), JSON.stringify({ alerts, agent }));
  gateway = await startGateway(directory);
  token = await exchange(gateway.url, await createKey(directory, 'acme'));
  const add = (plugin: string) => {
    const args = ['alert-source', 'add', '--org', 'acme', '--plugin', plugin, '--name', plugin];
    return sightlineJson(directory, args, source);
  };
  sources = {
    alertmanager: await add('alertmanager'),
    datadog: await add('datadog'),
    generic: await add('generic'),
    pagerduty: await add('pagerduty'),
  };
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await removeDirectory(directory);
});

async function post(to: Source, body: unknown, headers: Record<string, string>, path = '') {
  const response = await fetch(`${gateway.url}/alerts/${to.id}${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
}

/** Whether the agent is already looking into it is up to the agent. */
const begun: unknown = expect.stringMatching(/^(triage|investigating)$/);

const bearer = ({ secret }: Source) => ({ authorization: `Bearer ${secret}` });
const basic = ({ secret }: Source) => ({ authorization: `Basic ${Buffer.from(`sns:${secret}`).toString('base64')}` });

async function incidentsOf(query: string) {
  const { structured } = await callTool(gateway.url, token, 'list_incidents', { query, limit: 100 });
  return listed.parse(structured).incidents;
}

describe('the generic plugin takes what senders post, and knows when it is over', () => {
  it.each<[string, object, object, string, readonly string[]]>([
    ['Opsgenie', generic.opsgenie, { ...generic.opsgenie, action: 'Close' }, 'Checkout answers 500', ['checkout']],
    [
      'CloudWatch through SNS',
      generic.sns(generic.cloudwatch()),
      generic.sns(generic.cloudwatch('OK')),
      'payment-5xx',
      ['payment'],
    ],
    ['New Relic', generic.newRelic('ACTIVATED'), generic.newRelic('CLOSED'), 'Error percentage', ['cart']],
    ['Zabbix', generic.zabbix('1'), generic.zabbix('0'), 'High CPU utilization', []],
    ['Uptime Kuma', generic.uptimeKuma(0), generic.uptimeKuma(1), 'Shop', []],
    [
      'one that the config describes',
      { backup: 'Dump of db-1', state: 'failed', app: 'ledger' },
      { backup: 'Dump of db-1', state: 'ok', app: 'ledger' },
      'Dump of db-1',
      ['ledger'],
    ],
    [
      'one that nobody knows',
      { headline: 'Ovens are hot', state: 'alerting' },
      { headline: 'Ovens are hot', state: 'ok' },
      'Ovens are hot',
      [],
    ],
  ])('%s', async (_name, begun, over, title, services) => {
    const to = sources.generic;
    expect((await post(to, begun, { authorization: `Bearer ${to.secret}x` })).status).toBe(401);
    expect(await incidentsOf(title)).toEqual([]);
    expect(await post(to, begun, basic(to))).toMatchObject({ status: 200, body: { accepted: 1 } });
    const opened = await incidentsOf(title);
    expect(opened).toEqual([expect.objectContaining({ title: expect.stringContaining(title), services })]);
    expect(opened[0]?.status).not.toBe('resolved');
    expect(await post(to, over, bearer(to))).toMatchObject({ status: 200, body: { accepted: 1 } });
    expect((await incidentsOf(title)).map(({ status }) => status)).toEqual(['resolved']);
  });

  it('Sentry, which signs', async () => {
    const to = sources.generic;
    const send = (body: object, secret: string) => {
      const text = JSON.stringify(body);
      return post(to, text, { 'sentry-hook-resource': 'issue', 'sentry-hook-signature': signature(secret, text) });
    };
    const state = async () => (await incidentsOf('ReferenceError')).map(({ status, services }) => [status, services]);
    expect((await send(generic.sentryEvent, 'another')).status).toBe(401);
    expect(await state()).toEqual([]);
    expect((await send(generic.sentryEvent, to.secret)).body).toEqual({ accepted: 1 });
    expect(await state()).toEqual([[begun, ['search']]]);
    expect((await send(generic.sentryIssue('resolved', 'resolved'), to.secret)).body).toEqual({ accepted: 1 });
    expect(await state()).toEqual([['resolved', ['search']]]);
    expect((await send(generic.sentryIssue('unresolved', 'unresolved'), to.secret)).body).toEqual({ accepted: 1 });
    expect(await state()).toEqual([['investigating', ['search']]]);
  });

  it('an event of Kubernetes, under the name of its workload', async () => {
    const to = sources.generic;
    expect((await post(to, generic.kubernetesEvent('Normal'), bearer(to))).body).toEqual({ accepted: 0 });
    expect((await post(to, generic.kubernetesEvent('Warning'), bearer(to))).body).toEqual({ accepted: 1 });
    expect(await incidentsOf('Back-off')).toMatchObject([{ services: ['mail'] }]);
  });
});

describe("PagerDuty's Events API v2", () => {
  it('is answered as PagerDuty answers, from trigger to resolve; the routing key is the secret', async () => {
    const to = sources.pagerduty;
    const key = to.secret;
    const send = (body: object, routing_key = key) => post(to, { ...body, routing_key }, {}, '/v2/enqueue');
    expect((await send(sent, `${key}0`)).status).toBe(401);
    const event = {
      ...sent,
      dedup_key: 'e1',
      payload: { ...sent.payload, summary: 'Events arrive', component: 'events' },
    };
    expect(await send(event)).toEqual({
      status: 202,
      body: { status: 'success', message: 'Event processed', dedup_key: 'e1' },
    });
    const state = async () =>
      (await incidentsOf('Events arrive')).map(({ title, status, services }) => [title, status, services]);
    expect(await state()).toEqual([['Events arrive', begun, ['events']]]);
    expect((await send({ ...sentAcknowledgement, dedup_key: 'e1' })).status).toBe(202);
    expect(await state()).toEqual([['Events arrive', 'investigating', ['events']]]);
    expect((await send({ ...sentEnd, dedup_key: 'e1' })).status).toBe(202);
    expect(await state()).toEqual([['Events arrive', 'resolved', ['events']]]);
    expect((await send({ ...sentAcknowledgement, dedup_key: 'never seen' })).status).toBe(202);
    expect(await incidentsOf('without a title')).toEqual([]);
  });
});

describe("Datadog's test of a webhook", () => {
  it('is answered helpfully without a monitor, and opens nothing', async () => {
    const to = sources.datadog;
    const { status, body } = await post(to, { ...datadogTest, monitor_id: '' }, bearer(to));
    expect([status, body['accepted']]).toEqual([200, 0]);
    expect(String(body['warnings'])).toMatch(/address, secret and payload are right/);
    expect((await post(to, triggered, bearer(to))).body).toEqual({ accepted: 1 });
  });
});

describe('Alertmanager', () => {
  const [sample] = firing.alerts;
  const began = new Date(Date.now() - 60_000).toISOString();
  const group = (groupKey: string, alerts: readonly object[]) => ({ ...firing, groupKey, alerts });
  const of = (alertname: string, labels: object, fingerprint = JSON.stringify([alertname, labels])) => ({
    ...sample,
    startsAt: began,
    labels: { alertname, severity: 'warning', ...labels },
    annotations: { summary: alertname },
    fingerprint,
  });

  it('opens its incident with a group of 1,001 alerts, and says how many are left out', async () => {
    const to = sources.alertmanager;
    const alerts = Array.from({ length: 1_001 }, (_, index) =>
      of('Thousand', { service: 'thousand', index: `${index}` }),
    );
    const { status, body } = await post(to, group('thousand', alerts), bearer(to));
    expect([status, body]).toEqual([
      200,
      { accepted: 1_000, warnings: ['alerts: 1 of 1,001 alerts are left out; a request brings at most 1,000.'] },
    ]);
    expect(await incidentsOf('Thousand')).toHaveLength(1);
  }, 60_000);

  it('opens its incident with a group of more than 2 MB', async () => {
    const to = sources.alertmanager;
    const alerts = Array.from({ length: 900 }, (_, index) =>
      of('Huge', { service: 'huge', index: `${index}`, filler: 'x'.repeat(2_500) }, `huge ${index}`),
    );
    const body = JSON.stringify(group('huge', alerts));
    expect(body.length).toBeGreaterThan(2 * 1024 * 1024);
    expect(await post(to, body, bearer(to))).toMatchObject({ status: 200, body: { accepted: 900 } });
    expect(await incidentsOf('Huge')).toHaveLength(1);
  }, 60_000);

  it('is known by the workload, not by what measures it, as kube-prometheus names both', async () => {
    const to = sources.alertmanager;
    const measured = {
      namespace: 'kube-test',
      prometheus: 'monitoring/kube-prometheus-stack-prometheus',
      endpoint: 'http',
      instance: '10.0.1.12:8080',
      job: 'kube-state-metrics',
      service: 'kube-prometheus-stack-kube-state-metrics',
    };
    const itself = { container: 'kube-state-metrics', pod: 'kube-prometheus-stack-kube-state-metrics-6f8b9d7c4-w2xkz' };
    const node = { ...measured, job: 'node-exporter', service: 'kube-prometheus-stack-prometheus-node-exporter' };
    const alerts: readonly (readonly [object, readonly string[]])[] = [
      [
        of('KubePodCrashLooping', { ...measured, container: 'app', pod: 'wl-crash-7d9f8c6b5-x2kq9', uid: '1' }),
        ['wl-crash'],
      ],
      [of('KubeDeploymentReplicasMismatch', { ...measured, ...itself, deployment: 'wl-billing' }), ['wl-billing']],
      [of('KubeStatefulSetReplicasMismatch', { ...measured, ...itself, statefulset: 'wl-db' }), ['wl-db']],
      [of('KubeDaemonSetRolloutStuck', { ...measured, ...itself, daemonset: 'wl-agent' }), ['wl-agent']],
      [of('KubeJobFailed', { ...measured, ...itself, job_name: 'wl-backup-29401560' }), ['wl-backup']],
      [of('CPUThrottlingHigh', { namespace: 'kube-test', container: 'istio-proxy', pod: 'wl-web-0' }), ['wl-web']],
      [of('ContainerOOM', { job: 'kubelet', service: 'kubelet', container: 'wl-oom' }), ['wl-oom']],
      [of('OwnMetrics', { job: 'wl-cart-metrics', service: 'wl-cart', pod: 'other-7d9f8c6b5-x2kq9' }), ['wl-cart']],
      [of('NodeFilesystemAlmostOutOfSpace', { ...node, container: 'node-exporter', pod: 'p-node-exporter-x2kq9' }), []],
      [of('KubePersistentVolumeFillingUp', { namespace: 'kube-test', job: 'kubelet', service: 'kps-kubelet' }), []],
      [of('ProbeFailed', { job: 'blackbox-http', instance: 'https://shop.example.com' }), []],
      [of('RedisDown', { job: 'redis_exporter', instance: '10.0.0.7:9121' }), []],
    ];
    for (const [index, [alert]] of alerts.entries()) {
      expect((await post(to, group(`workloads ${index}`, [alert]), bearer(to))).body).toEqual({ accepted: 1 });
    }
    for (const [alert, services] of alerts) {
      const { alertname } = z.object({ labels: z.object({ alertname: z.string() }) }).parse(alert).labels;
      const found = (await incidentsOf(alertname)).map((incident) => incident.services);
      expect([alertname, found]).toEqual([alertname, [services]]);
    }
  });

  it('opens nothing by its heartbeats, and an incident for each group without a service', async () => {
    const to = sources.alertmanager;
    const heartbeats = [
      of('Watchdog', { severity: 'none' }),
      of('InfoInhibitor', { severity: 'none' }),
      of('Whatever', { severity: 'none' }),
    ];
    expect((await post(to, group('heartbeats', heartbeats), bearer(to))).body).toEqual({ accepted: 0, heartbeats: 3 });
    const others: readonly (readonly [string, object])[] = [
      ['NoService1', of('NoService1', { instance: 'a' })],
      ['NoService2', of('NoService2', { severity: 'critical', instance: 'b' })],
    ];
    for (const [key, alert] of others) await post(to, group(key, [alert]), bearer(to));
    await post(to, { ...grafanaTest, groupKey: 'grafana' }, bearer(to));
    expect(await incidentsOf('Watchdog')).toEqual([]);
    expect(await incidentsOf('NoService1')).toMatchObject([{ severity: 'medium' }]);
    expect(await incidentsOf('NoService2')).toMatchObject([{ severity: 'critical' }]);
    expect(await incidentsOf('Notification test')).toHaveLength(1);
  });
});

it('Zabbix is given the parameters that its mapping reads', async () => {
  const given = await readFile(join(root, 'deploy', 'alerts', 'zabbix.txt'), 'utf8');
  for (const name of Object.keys(generic.zabbix('1'))) expect(given).toMatch(new RegExp(`^${name} +\\{`, 'm'));
});
