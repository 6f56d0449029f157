import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { defaultLoadersSync } from 'cosmiconfig';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

/* Deploys and flags, reported as docs/changes.md says, through a gateway. */

const run = promisify(execFile);
const page = await readFile(join(root, 'docs/changes.md'), 'utf8');

/** The first block of this language in the section with this title. */
function block(title: string, language: string): string {
  const section = title === '' ? page : (page.split(`\n## ${title}\n`)[1] ?? '');
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'ms').exec(section)?.[1] ?? '';
}

const shipped = (name: string): Promise<string> => readFile(join(root, `deploy/changes/${name}.yaml`), 'utf8');

const parse = (yaml: string): unknown => defaultLoadersSync['.yaml']('guide.yaml', yaml);

const now = Date.now();
const ago = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();
let directory = '';
let gateway: RunningGateway;
const tokens: Record<string, { readonly ingest: string; readonly reads: string }> = {};

beforeAll(async () => {
  directory = await temporaryDirectory();
  const keys = new Map<string, Awaited<ReturnType<typeof createKey>>>();
  for (const name of ['acme', 'globex']) keys.set(name, await createKey(directory, name));
  gateway = await startGateway(directory);
  for (const [name, key] of keys) {
    const { token } = await sightlineJson(
      directory,
      ['ingest', 'show', '--org', name],
      z.object({ token: z.string() }),
    );
    tokens[name] = { ingest: token, reads: await exchange(gateway.url, key) };
  }
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await removeDirectory(directory);
});

const tokenOf = (name: string) => tokens[name] ?? { ingest: '', reads: '' };

interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

async function post(body: unknown, { headers, path = '/v1/changes' }: Sending = {}) {
  const authorization = `Bearer ${tokenOf('acme').ingest}`;
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers ?? { authorization }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
}

const columns = `event_name, service_name, service_version, body, attributes['deployment.id'], attributes['feature_flag.key'], attributes['feature_flag.result.value'], attributes['user.name'], attributes['url.full'], resource_attributes['deployment.environment.name']`;

/** Waits until the event is there: it can be queried a moment after it is acknowledged. */
async function events(organization: string, where: string, least: number): Promise<readonly (readonly unknown[])[]> {
  const sql = `SELECT ${columns} FROM otel.logs WHERE event_name <> '' AND ${where} ORDER BY time`;
  const shape = z.object({ rows: z.array(z.array(z.unknown())) });
  for (let attempt = 0; ; attempt += 1) {
    const { structured } = await callTool(gateway.url, tokenOf(organization).reads, 'query_otel', {
      sql,
      start: 'now-200d',
    });
    const { rows } = shape.parse(structured);
    if (rows.length >= least || attempt > 100) return rows;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('a reported change', () => {
  it('is an event of the token’s organization, and of no other', async () => {
    const change = {
      what: 'deploy',
      service: 'cart',
      version: '1.9.5',
      environment: 'production',
      status: 'succeeded',
      id: 'own',
      who: 'dana',
      url: 'https://ci.example.com/1',
    };
    expect(await post(change)).toEqual({ status: 200, body: { stored: true } });
    const found = await events('acme', "service_name = 'cart'", 1);
    expect(found).toEqual([
      [
        'deployment',
        'cart',
        '1.9.5',
        'Deploy of cart 1.9.5 in production',
        'own',
        null,
        null,
        'dana',
        'https://ci.example.com/1',
        'production',
      ],
    ]);
    await post({ what: 'deploy', service: 'mark' }, { headers: { 'x-api-key': tokenOf('globex').ingest } });
    const others = await events('globex', "event_name = 'deployment'", 1);
    expect(others.map(([, service]) => service)).toEqual(['mark']);
  });

  it.each<readonly [string, unknown, number, string]>([
    ['no JSON', 'what=deploy', 400, 'no JSON object'],
    ['a list', [{ what: 'deploy', service: 'x' }], 400, 'no JSON object'],
    ['deep nesting', `${'['.repeat(100_000)}`, 400, 'no JSON object'],
    ['an unknown kind', { what: 'party', service: 'x' }, 400, 'what:'],
    ['no kind', { service: 'x' }, 400, 'what is missing.'],
    ['a deploy of no service', { what: 'deploy', version: '1' }, 400, 'service is missing.'],
    ['a flag without a key', { what: 'flag', flag: '' }, 400, 'flag: '],
    ['an unknown field', { what: 'deploy', service: 'x', verison: '1' }, 400, 'verison'],
    ['a long text', { what: 'deploy', service: 'x'.repeat(201) }, 400, 'service:'],
    ['control characters', { what: 'deploy', service: 'x\n# y' }, 400, 'control characters'],
    ['an address of no page', { what: 'deploy', service: 'x', url: 'javascript:alert(1)' }, 400, 'url:'],
    ['an address with a password', { what: 'deploy', service: 'x', url: 'https://a:b@x.example.com' }, 400, 'url:'],
    ['a time that is none', { what: 'deploy', service: 'x', time: 'yesterday' }, 400, 'time:'],
    [
      'seconds',
      { what: 'deploy', service: 'x', time: 1_772_355_240 },
      400,
      'time: looks like seconds; send milliseconds since 1970, or RFC 3339.',
    ],
    [
      'microseconds',
      { what: 'deploy', service: 'x', time: 1_772_355_240_000_000 },
      400,
      'time: looks like micro- or nanoseconds; send',
    ],
    [
      'the last century',
      { what: 'deploy', service: 'x', time: '1999-01-01T00:00:00Z' },
      400,
      'The change was not stored: time before the year 2000.',
    ],
    ['a time far ahead', { what: 'deploy', service: 'x', time: ago(-15_000) }, 400, 'future'],
    ['a time beyond all', { what: 'deploy', service: 'x', time: Number.MAX_SAFE_INTEGER }, 400, ''],
    ['too much', { what: 'deploy', service: 'x', who: 'y'.repeat(300_000) }, 413, 'larger'],
  ])('is refused with %s', async (_name, body, status, message) => {
    expect(await post(body)).toEqual({ status, body: { code: 3, message: expect.stringContaining(message) } });
  });

  it('is stored with a time some days ahead, and says so: either clock may be wrong', async () => {
    expect(await post({ what: 'deploy', service: 'x', time: ago(-5000) })).toEqual({
      status: 200,
      body: { stored: true, warning: expect.stringContaining('check both clocks') },
    });
  });

  it('is refused with a wrong token, by another method, as another type', async () => {
    const change = { what: 'deploy', service: 'refused' };
    for (const headers of [
      {},
      { authorization: 'Bearer it_wrong' },
      { authorization: `Bearer ${tokenOf('acme').reads}` },
    ]) {
      expect(await post(change, { headers })).toMatchObject({ status: 401, body: { code: 16 } });
    }
    expect((await post(change, { headers: {}, path: '/v1/changes?token=it_wrong' })).status).toBe(401);
    // The token of an address is for webhooks of changes alone.
    const path = `/v1/logs?token=${tokenOf('acme').ingest}`;
    expect((await post('{}', { headers: {}, path })).status).toBe(401);
    expect((await fetch(`${gateway.url}/v1/changes`)).status).toBe(405);
    const authorization = `Bearer ${tokenOf('acme').ingest}`;
    const asText = await post(change, { headers: { authorization, 'content-type': 'text/plain' } });
    expect(asText).toMatchObject({ status: 415, body: { message: expect.stringContaining('application/json in') } });
    await post({ what: 'deploy', service: 'later' });
    await events('acme', "service_name = 'later'", 1);
    expect(await events('acme', "service_name = 'refused'", 0)).toEqual([]);
    expect(gateway.output()).not.toContain(tokenOf('acme').ingest);
  });
});

describe('the guide to changes', () => {
  it('has lines for a shell', async () => {
    const lines = block('', 'sh').replaceAll('http://127.0.0.1:8080', gateway.url);
    await run('sh', ['-ec', lines], { env: { ...process.env, INGEST_TOKEN: tokenOf('globex').ingest } });
    const found = await events('globex', "service_name = 'payment' OR event_name LIKE 'feature_flag%'", 2);
    expect(found.map(([name, service, version, , , flag, value]) => [name, service, version, flag, value])).toEqual([
      ['deployment', 'payment', '2.4.0', null, null],
      ['feature_flag.change', '', '', 'express-checkout', 'on'],
    ]);
  });

  it('has a record for OTLP, whose name may be an attribute', async () => {
    const body = block('By OTLP', 'json').replace('1772355240000000000', `${now}000000`);
    const { status } = await post(body, { path: '/v1/logs' });
    expect(status).toBe(200);
    const attribute = '"attributes": [{ "key": "event.name", "value": { "stringValue": "deployment.finished" } },';
    const older = body
      .replace('"eventName": "deployment",', '')
      .replace(/("body".*\n\s*)"attributes": \[/, `$1${attribute}`);
    expect((await post(older, { path: '/v1/logs' })).status).toBe(200);
    const found = await events('acme', "service_name = 'payment' AND attributes['deployment.id'] = 'run-4711'", 2);
    expect(new Set(found.map(([name]) => name))).toEqual(new Set(['deployment', 'deployment.finished']));
  });

  it('has a step for GitHub Actions', async () => {
    const [step] = z.tuple([z.object({ run: z.string() })]).parse(parse(await shipped('github-actions')));
    const env = {
      ...process.env,
      SIGHTLINE_URL: gateway.url,
      SIGHTLINE_TOKEN: tokenOf('acme').ingest,
      STATUS: 'succeeded',
      GITHUB_RUN_ID: '17',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_REF_NAME: 'v"2.4.0',
      GITHUB_ACTOR: 'dana',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/payment',
    };
    await run('bash', ['-ec', step.run], { env });
    const [found] = await events('acme', "attributes['deployment.id'] = '17-1'", 1);
    expect(found?.slice(0, 3)).toEqual(['deployment', 'payment', 'v"2.4.0']);
    expect(found?.[8]).toBe('https://github.com/acme/payment/actions/runs/17');
  });

  it('has a template for Argo CD', async () => {
    const shape = z.object({ 'service.webhook.sightline': z.string(), 'template.sightline': z.string() });
    const config = shape.parse(parse(await shipped('argo-cd')));
    const service = z.object({ url: z.string() }).parse(parse(config['service.webhook.sightline']));
    expect(new URL(service.url).pathname).toBe('/v1/changes');
    const { webhook } = z
      .object({ webhook: z.object({ sightline: z.object({ body: z.string() }) }) })
      .parse(parse(config['template.sightline']));
    // As Argo CD fills it in for an application without images.
    const body = webhook.sightline.body
      .replace(/\{\{ with .*?\}\}.*\{\{ else \}\}(.*)\{\{ end \}\}/, '$1')
      .replace(/\{\{[^}]*(?:finishedAt) \}\}/, JSON.stringify(ago(3)))
      .replace(/\{\{[^}]*destination\.namespace \}\}/, '"shop"')
      .replace(/\{\{[^}]*\}\}/g, '"argo"');
    expect(await post(body)).toEqual({ status: 200, body: { stored: true } });
    const [found] = await events('acme', "attributes['deployment.id'] = 'argo'", 1);
    expect(found?.[9]).toBe('shop');
  });

  it('has an address for LaunchDarkly, whose flags are kept', async () => {
    const entry = JSON.parse(block('LaunchDarkly', 'json'));
    const address = new URL(block('LaunchDarkly', '').trim().replace('INGEST_TOKEN', tokenOf('acme').ingest));
    const sending = { headers: {}, path: `${address.pathname}${address.search}` };
    expect(await post({ ...entry, date: now }, sending)).toEqual({ status: 200, body: { stored: true } });
    expect(await post({ ...entry, kind: 'project' }, sending)).toMatchObject({ status: 200, body: { stored: false } });
    expect((await post({ ...entry, date: 'soon' }, sending)).body['message']).toContain('date:');
    const [found] = await events('acme', "attributes['feature_flag.provider.name'] = 'launchdarkly'", 1);
    expect(found).toEqual([
      'feature_flag.change',
      '',
      '',
      'Flag express-checkout changed to on in production',
      null,
      'express-checkout',
      'on',
      'dana@example.com',
      'https://app.launchdarkly.com/shop/production/features/express-checkout',
      'production',
    ]);
  });
});
