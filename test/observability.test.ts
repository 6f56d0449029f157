import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultLoaders } from 'cosmiconfig';
import { z } from 'zod';
import { loadConfig } from '../src/gateway/config/load.ts';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightlineJson,
  startOne,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';
import { readPromql } from './support/promql.ts';
import { scrape, type Scrape } from './support/scrape.ts';
import { until } from './support/workers.ts';

/* The dashboard, the alert rules and the page about them, held against what a gateway exports that has seen some of everything. */

const run = promisify(execFile);
const dashboardShape = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      id: z.int(),
      type: z.enum(['row', 'timeseries']),
      gridPos: z.object({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});
const rulesShape = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Sightline[A-Z]/),
          expr: z.string(),
          for: z.string().regex(/^\d+m$/),
          labels: z.strictObject({ severity: z.enum(['info', 'warning', 'critical']) }),
          annotations: z.strictObject({ summary: z.string().min(1), description: z.string().min(1) }),
        }),
      ),
    }),
  ),
});

const file = (...path: string[]): Promise<string> => readFile(join(root, ...path), 'utf8');
/** Given by Prometheus itself to every series. */
const ofPrometheus = ['job', 'instance', 'le'];

describe('what watches the service', () => {
  let directory = '';
  let gateway: RunningGateway;
  let seen: Scrape;
  let metrics = '';

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const config = join(directory, 'sightline.config.json');
    await writeFile(
      config,
      JSON.stringify({
        ownTelemetry: { prometheus: { enabled: true, port: 0 } },
        limits: { queriesAtOnce: 1, requestsPerMinute: 120 },
      }),
    );
    gateway = await startOne(directory, { workers: 1, args: ['--no-demo', '--config', config] });
    metrics = /"metrics":"([^"]+)"/.exec(gateway.output())?.[1] ?? '';
    await useAll();
    seen = await scrape(metrics);
  });

  afterAll(async () => {
    await gateway.kill();
    await removeDirectory(directory);
  });

  /** Until each metric has counted something. */
  async function useAll(): Promise<void> {
    const { url } = gateway;
    const token = await exchange(url, await createKey(directory, 'acme'));
    const query = (sql: string) => callTool(url, token, 'query_otel', { sql });
    await Promise.all(Array.from({ length: 5 }, (_, at) => query(`SELECT ${at}, count(*) FROM range(3000000)`)));
    await query('SELEC');
    await callTool(url, token, 'start_chat', { message: 'why is checkout slow?' });
    const ingest = await sightlineJson(directory, ['ingest', 'show', '--org', 'acme'], z.object({ token: z.string() }));
    const metric = { name: 'm', gauge: { dataPoints: [{ asInt: '1' }] } };
    await fetch(`${url}/v1/metrics`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ingest.token}`, 'content-type': 'application/json' },
      // A data point that has no metric's name is rejected, the other taken.
      body: JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric, { ...metric, name: '' }] }] }] }),
    });
    await until('a call is refused', async () => (await callTool(url, token, 'list_chats', {})).status === 429);
    await until('the investigation ended', () => gateway.output().includes('investigation ended'));
  }

  /** Whether the gateway exports series of this name with these labels; its type where it does. */
  function exported(name: string, labels: readonly string[]): boolean {
    const series = seen.samples.filter((sample) => sample.name === name);
    const known = new Set([...ofPrometheus, ...series.flatMap((sample) => Object.keys(sample.labels))]);
    return series.length > 0 && labels.every((label) => known.has(label));
  }

  it('the dashboard asks for what is exported, by labels that are there', async () => {
    const { panels } = dashboardShape.parse(JSON.parse(await file('deploy/observability/dashboard.json')));
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(15);
    const wrong = expressions.filter((each) => {
      const { selectors, grouping } = readPromql(each.replaceAll('$__rate_interval', '5m'));
      return !selectors.every(({ name, labels }) => exported(name, [...labels, ...grouping]));
    });
    expect(wrong).toEqual([]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    const legends = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr, legendFormat }) =>
        [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => ({ expr, label })),
      ),
    );
    expect(legends.filter(({ expr, label }) => !ofPrometheus.includes(label) && !expr.includes(label))).toEqual([]);
  });

  it('so do the alert rules', async () => {
    const parsed: unknown = defaultLoaders['.yaml']('alerts.yaml', await file('deploy/observability/alerts.yaml'));
    const rules = rulesShape.parse(parsed).groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(8);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    const wrong = rules.filter(({ expr }) => {
      const { selectors, grouping } = readPromql(expr);
      return !selectors.every(({ name, labels }) => name === 'up' || exported(name, [...labels, ...grouping]));
    });
    expect(wrong).toEqual([]);
  });

  it('an expression over what is not there would be seen', () => {
    for (const [expr, there] of [
      ['sum by (job) (rate(sightline_audit_pending[5m]))', true],
      ['sum by (job) (rate(sightline_audit_waiting[5m]))', false],
      ['sightline_audit_pending{organization="acme"}', false],
      ['sum by (gen_ai_tool) (mcp_server_operation_duration_seconds_count)', false],
    ] as const) {
      const { selectors, grouping } = readPromql(expr);
      expect([expr, selectors.every(({ name, labels }) => exported(name, [...labels, ...grouping]))]).toEqual([
        expr,
        there,
      ]);
    }
    expect(() => readPromql('sum(rate(a[5m])')).toThrow('parentheses');
  });

  it('the page names every metric and label there is, and none that is not', async () => {
    const page = await file('docs/observability.md');
    const rows = [...page.matchAll(/^\| (`[^|]*`) \|([^|]*)\|[^|]*\|$/gm)];
    const named = rows.flatMap(([, names = '']) => [...names.matchAll(/`([a-z0-9_]+)`/g)].map(([, name = '']) => name));
    expect(named.filter((name) => !seen.types.has(name))).toEqual([]);
    const more = new Set(['target_info', 'nodejs_eventloop_delay_p99_seconds', 'nodejs_eventloop_delay_max_seconds']);
    expect([...seen.types.keys()].filter((name) => !named.includes(name) && !more.has(name))).toEqual([]);
    const labels = new Set(
      rows.flatMap(([, , text = '']) => [...text.matchAll(/`([a-z0-9_]+)`/g)].map(([, label = '']) => label)),
    );
    const constant = new Set(['le', 'network_transport', 'gen_ai_operation_name', 'url_scheme', 'db_operation_name']);
    const exportedLabels = new Set(
      seen.samples.filter(({ name }) => name !== 'target_info').flatMap((sample) => Object.keys(sample.labels)),
    );
    expect([...exportedLabels].filter((label) => !labels.has(label) && !constant.has(label))).toEqual([]);
  });

  it('the commands and configurations of the page are as written', async () => {
    const page = await file('docs/observability.md');
    const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text).join('');
    const { stdout } = await run('sh', ['-e', '-c', commands.replaceAll('http://127.0.0.1:9464/metrics', metrics)]);
    for (const [, link = ''] of page.matchAll(/\]\(([^)#]+)/g)) await access(join(root, 'docs', link));
    expect(stdout).toContain('target_info{service_name="sightline"');
    const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
    expect(blocks).toHaveLength(3);
    for (const [index, block] of blocks.entries()) {
      const path = join(directory, `block-${index}.yaml`);
      await writeFile(path, block.replace('${file:/run/secrets/ingest-token}', 'token'));
      const { config } = await loadConfig({ file: path, cwd: directory, env: { OTLP_TOKEN: 'token' }, overrides: {} });
      expect(config.ownTelemetry.prometheus.enabled || config.ownTelemetry.otlp !== undefined).toBe(true);
    }
  });
});
