import { createServer, request as send, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import generic from '../../plugins/alerts-generic/index.ts';
import { snsConfirmation } from '../../plugins/alerts-generic/support/samples.ts';
import pagerduty from '../../plugins/alerts-pagerduty/index.ts';
import { createAlertReceiver, limits, readBody } from '../../src/incidents/alerts/receiver.ts';
import { createAlertRecorder } from '../../src/incidents/alerts/recorder.ts';
import { createAlertSources, type AlertSources } from '../../src/incidents/alerts/sources.ts';
import { testHost } from '../contract/host.ts';
import type { StorageUnderTest } from '../contract/storage.ts';
import { eventually } from '../contract/storage/stage.ts';
import type { AlertInput } from '../../src/contract/alerts/index.ts';
import type { OrganizationId } from '../../src/contract/core/index.ts';
import type { Actor, Storage } from '../../src/contract/storage/index.ts';
import { listen } from '../support/listen.ts';
import { recordingLogger } from '../support/mcp-server.ts';
import { emptyStore } from '../support/stores.ts';

const actor: Actor = { kind: 'operator', id: 'ada', name: 'ada' };
const careless: AlertInput = {
  verify: () => true,
  normalize: (body) => {
    if (body === 'crash') throw new TypeError('cannot read the secret of undefined');
    const long = 'x'.repeat(10_000);
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${long}${index}`, long]));
    return [
      {
        fingerprint: long,
        status: 'firing',
        title: `\u0000\ud800${long}`,
        severity: 'low',
        startsAt: new Date(0),
        labels,
        services: [long],
      },
    ];
  },
  instructions: () => '',
};

let store: StorageUnderTest;
let storage: Storage;
let sources: AlertSources;
let server: Server;
let url = '';
let organizations: readonly OrganizationId[];
const logger = recordingLogger();
const caller = { address: '192.0.2.1' };
let woken = 0;
let visited: string[] = [];
let reachable = true;

beforeAll(async () => {
  store = await emptyStore();
  storage = store.open();
  await storage.start(AbortSignal.timeout(20_000));
  const host = testHost('/nowhere');
  const now = (): Date => new Date();
  const inputs = new Map([
    ['generic', generic.create({ mappings: [] }, host)],
    ['pagerduty', pagerduty.create({}, host)],
    ['careless', careless],
  ]);
  sources = createAlertSources({ storage, vault: host.vault, inputs, publicUrl: 'https://alerts.example', now });
  const receive = createAlertReceiver({
    directory: () => storage.directory,
    inputs: new Map([...inputs].filter(([name]) => name !== 'pagerduty')),
    secretOf: (source) => sources.secretOf(source),
    recorder: createAlertRecorder({ storage, engine: 'test', wake: () => (woken += 1), logger }),
    clientAddress: () => caller.address,
    confirm: (address) => {
      visited.push(address);
      return Promise.resolve(reachable);
    },
    now,
    logger,
  });
  server = createServer((request, response) => receive(request, response, false));
  url = `http://127.0.0.1:${await listen(server)}`;
  organizations = await Promise.all(
    ['acme', 'globex'].map(async (name) => (await storage.directory.createOrganization({ name })).id),
  );
});

afterAll(async () => {
  server.close();
  await storage.stop();
  await store.cleanup();
});

let made = 0;
async function addSource(plugin = 'generic', of = 0) {
  const [organizationId] = organizations.slice(of);
  if (organizationId === undefined) throw new Error('no organization');
  made += 1;
  const { source, secret } = await sources.add({ organizationId, name: `source ${made}`, plugin, actor });
  return { id: source.id, secret, organizationId, workspace: storage.workspace(organizationId) };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

function post(path: string, secret: string, body: string | Buffer, headers: object = {}, method = 'POST') {
  return new Promise<Answer>((resolve, reject) => {
    const sent = { authorization: `Bearer ${secret}`, ...headers };
    const request = send(`${url}${path}`, { method, headers: sent, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const alert = (title: string, more: object = {}): string => JSON.stringify({ title, ...more });

describe('a request with alerts', () => {
  it('is answered when they are kept, and wakes who investigates', async () => {
    const { id, secret, workspace } = await addSource();
    const before = woken;
    const labels = { 'service.name': 'checkout', job: 'scraped', namespace: 'shop' };
    const { status, body } = await post(`/alerts/${id}`, secret, alert('Down', { labels, severity: 'critical' }));
    expect([status, body]).toEqual([200, { accepted: 1 }]);
    const [incident] = (await workspace.incidents.list({ limit: 1 })).items;
    expect(incident).toMatchObject({ title: 'Down', services: ['checkout'], environment: 'shop', source: 'source 1' });
    expect(woken).toBe(before + 1);
    expect((await post(`/alerts/${id}?x=1`, secret, '[]')).body).toEqual({ accepted: 0 });
  });

  it('is for the organization of its address, and of no other one', async () => {
    const [ours, theirs] = [await addSource('generic', 0), await addSource('generic', 1)];
    expect((await post(`/alerts/${theirs.id}`, ours.secret, alert('Not mine'))).status).toBe(401);
    expect((await post(`/alerts/${theirs.id}`, theirs.secret, alert('Theirs'))).status).toBe(200);
    const titles = async ({ workspace }: typeof ours) =>
      (await workspace.incidents.list({ limit: 100 })).items.map(({ title }) => title);
    expect(await titles(theirs)).toEqual(['Theirs']);
    expect(await titles(ours)).not.toContain('Theirs');
  });

  it('gets one and the same answer at every address that is nobody’s', async () => {
    const { id, secret, organizationId } = await addSource();
    await sources.remove(organizationId, id, actor);
    const paths = [id, `${id}/`, `${id}x`, `als_${'0'.repeat(26)}`, '', '..%2fmcp', "' or '1'='1", 'a'.repeat(4_000)];
    const answers = await Promise.all(
      paths.map(async (path) => {
        const { status, headers, body } = await post(`/alerts/${encodeURI(path)}`, secret, alert('x'));
        const { date: _, ...rest } = headers;
        return { status, headers: rest, body };
      }),
    );
    expect(answers[0]?.status).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect((await post(`/alerts/${id}`, secret, '', {}, 'GET')).status).toBe(404);
  });

  it('is refused without the secret, again and again only after a while; the right one is never kept out', async () => {
    const { id, secret } = await addSource();
    caller.address = '192.0.2.2';
    const statuses: number[] = [];
    for (let count = 0; count < limits.wrongSecrets.burst + 5; count += 1) {
      statuses.push((await post(`/alerts/${id}`, `${secret}x`, alert('x'))).status);
    }
    expect(new Set(statuses.slice(0, limits.wrongSecrets.burst))).toEqual(new Set([401]));
    const { status, headers } = await post(`/alerts/${id}`, '', alert('x'));
    expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await post(`/alerts/${id}`, secret, alert('x'))).status).toBe(200);
  });

  it('is let in while others send slowly: a stranger, and another organization with many sources', async () => {
    const { id, secret } = await addSource('generic', 0);
    const theirs = [await addSource('generic', 1), await addSource('generic', 1), await addSource('generic', 1)];
    const { port } = new URL(url);
    const opened: Socket[] = [];
    const sendSlowly = async (to: string, count: number): Promise<void> => {
      for (let each = 0; each < count; each += 1) {
        const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
        opened.push(socket);
        await once(socket, 'connect');
        socket.write(`POST /alerts/${to} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n`);
      }
    };
    try {
      caller.address = '192.0.2.66';
      await sendSlowly(id, limits.atOnce.caller + 1);
      for (const source of theirs) await sendSlowly(source.id, limits.atOnce.total / theirs.length);
      await eventually(async () => (await post(`/alerts/${id}`, secret, '[]')).status === 429);
      caller.address = '192.0.2.1';
      expect((await post(`/alerts/${id}`, secret, alert('Let in'))).status).toBe(200);
    } finally {
      caller.address = '192.0.2.1';
      for (const socket of opened) socket.destroy();
    }
  });

  it('is refused with the secret from before, once there is another', async () => {
    const { id, secret, organizationId } = await addSource();
    const own = 'whsec_of-the-sender-0123456789';
    await sources.rotate(organizationId, id, actor, own);
    expect((await post(`/alerts/${id}`, secret, alert('x'))).status).toBe(401);
    expect((await post(`/alerts/${id}`, own, alert('x'))).status).toBe(200);
  });

  it.each<[string, string | Buffer, object, number, RegExp]>([
    ['too large, as it says', Buffer.alloc(limits.bodyBytes + 1, 32), {}, 413, /larger than 8388608 bytes/],
    [
      'too large, chunk by chunk',
      Buffer.alloc(limits.bodyBytes + 1, 32),
      { 'transfer-encoding': 'chunked' },
      413,
      /larger/,
    ],
    ['compressed', alert('x'), { 'content-encoding': 'gzip' }, 415, /compressed/],
    ['nested deeply', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, {}, 400, /deeper than 32/],
    ['no JSON', '{"secret words', {}, 400, /^The body is not JSON in UTF-8\.$/],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 400, /not JSON in UTF-8/],
    ['empty', '', {}, 400, /not JSON/],
    ['what the plugin does not know', '{"x":1}', {}, 400, /^title is missing; /],
  ])('is refused when its body is %s', async (_what, body, headers, status, message) => {
    const { id, secret, workspace } = await addSource();
    const before = await workspace.incidents.list({ limit: 100 });
    const answer = await post(`/alerts/${id}`, secret, body, headers);
    expect(answer).toMatchObject({ status, body: { error: { message: expect.stringMatching(message) } } });
    expect(await workspace.incidents.list({ limit: 100 })).toEqual(before);
  });

  it('is taken in part where it is not right in all, and says so: to the sender, and a few times in the log', async () => {
    const { id, secret, workspace } = await addSource();
    const before = logger.lines.length;
    const bad = Array.from({ length: 30 }, (_, index) => ({ index }));
    const mixed = await post(`/alerts/${id}`, secret, JSON.stringify([{ title: 'Kept' }, ...bad]));
    expect(mixed).toMatchObject({ status: 200, body: { accepted: 1 } });
    const { warnings } = z.object({ warnings: z.array(z.string()) }).parse(mixed.body);
    expect(warnings).toHaveLength(limits.warnings + 1);
    expect(warnings[0]).toMatch(/^Left out: \[1\]\.title is missing/);
    expect(warnings.at(-1)).toBe('And 10 more.');
    expect((await workspace.incidents.list({ limit: 10, query: 'Kept' })).items).toHaveLength(1);
    for (let count = 0; count < 10; count += 1)
      await post(`/alerts/${id}`, secret, JSON.stringify([{ title: 'Kept' }, 5]));
    const told = logger.lines.slice(before).filter(({ message }) => message.includes('taken in part'));
    expect(told).toHaveLength(limits.logged.burst);
    expect(JSON.stringify(told)).not.toContain(secret);
  });

  it('holds no more bytes of a caller than it may, and gives them back', async () => {
    const { id, secret } = await addSource();
    const { port } = new URL(url);
    const opened: Socket[] = [];
    try {
      caller.address = '192.0.2.77';
      const half = Buffer.alloc(limits.bodyBytes / 2, 32);
      for (let held = 0; held < limits.bytesAtOnce.caller; held += half.length) {
        const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
        opened.push(socket);
        socket.write(`POST /alerts/${id} HTTP/1.1\r\nHost: x\r\nContent-Length: ${limits.bodyBytes}\r\n\r\n`);
        socket.write(half);
      }
      await eventually(async () => (await post(`/alerts/${id}`, secret, alert('x'))).status === 429);
      caller.address = '192.0.2.1';
      expect((await post(`/alerts/${id}`, secret, alert('x'))).status).toBe(200);
    } finally {
      for (const socket of opened) socket.destroy();
    }
    caller.address = '192.0.2.77';
    await eventually(async () => (await post(`/alerts/${id}`, secret, alert('x'))).status === 200);
    caller.address = '192.0.2.1';
  });

  it('of Amazon SNS is confirmed at SNS itself, for who knows the secret alone, and repeated where that fails', async () => {
    const { id, secret } = await addSource();
    const body = JSON.stringify({ ...snsConfirmation, SubscribeURL: 'http://169.254.169.254/' });
    visited = [];
    const refused = await post(`/alerts/${id}`, `${secret}x`, body);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="alerts", charset="UTF-8"',
    ]);
    expect(visited).toEqual([]);
    reachable = false;
    expect(await post(`/alerts/${id}`, secret, body)).toMatchObject({
      status: 503,
      body: {
        error: {
          message: 'The subscription is not confirmed: sns.eu-west-1.amazonaws.com did not answer this gateway.',
        },
      },
    });
    reachable = true;
    const basic = `Basic ${Buffer.from(`sns:${secret}`).toString('base64')}`;
    const confirmed = await post(`/alerts/${id}`, '', body, { authorization: basic, 'content-type': 'text/plain' });
    expect([confirmed.status, confirmed.body]).toEqual([200, { accepted: 0 }]);
    expect(visited.map((address) => new URL(address).origin)).toEqual(
      Array(2).fill('https://sns.eu-west-1.amazonaws.com'),
    );
    expect(JSON.stringify(logger.lines)).not.toContain(snsConfirmation.Token);
  });

  it('is sent by POST', async () => {
    const { id, secret } = await addSource();
    const { status, headers } = await post(`/alerts/${id}`, secret, '', {}, 'GET');
    expect([status, headers.allow]).toEqual([405, 'POST']);
  });

  it('is brought into bounds whatever a plugin makes of it, and a plugin that fails tells nobody why', async () => {
    const { id, secret, workspace } = await addSource('careless');
    expect((await post(`/alerts/${id}`, secret, '"crash"')).body).toEqual({
      error: { code: 'invalid_argument', message: 'The body could not be understood.' },
    });
    expect((await post(`/alerts/${id}`, secret, '1')).status).toBe(200);
    const [incident] = (await workspace.incidents.list({ limit: 100, query: 'xxx' })).items;
    if (incident === undefined) throw new Error('no incident was opened');
    expect(incident.title).toHaveLength(300);
    expect(incident.services[0]).toHaveLength(200);
    const { listed } = await workspace.alerts.ofIncident(incident.id);
    expect(JSON.stringify(listed).length).toBeLessThan(64 * 700);
  });

  it('is told to come again where its plugin is not configured', async () => {
    const { id, secret } = await addSource('pagerduty');
    expect(await post(`/alerts/${id}`, secret, '{}')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { error: { code: 'unavailable' } },
    });
    expect(logger.lines.some(({ message }) => message.includes('not in the config'))).toBe(true);
  });

  it('is given up when its body does not come', async () => {
    const slow = createServer((request, response) => {
      readBody(request, { ...limits, bodyMs: 50 }, () => true).catch((error: Error) => response.end(error.message));
    });
    const socket = connect(await listen(slow), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
    const [answer]: Buffer[] = await once(socket, 'data');
    expect(String(answer)).toContain('did not come in time');
    socket.destroy();
    slow.close();
  });

  it('is not acknowledged while the storage is away', async () => {
    const { id, secret } = await addSource();
    await storage.stop();
    try {
      expect((await post(`/alerts/${id}`, secret, alert('x'))).status).toBe(503);
    } finally {
      await storage.start(AbortSignal.timeout(20_000));
    }
    expect((await post(`/alerts/${id}`, secret, alert('x'))).status).toBe(200);
  });
});

describe('the sources of an organization', () => {
  it('are changed by name or id, never by another organization, and each change is audited', async () => {
    const [ours, theirs] = organizations;
    if (ours === undefined || theirs === undefined) throw new Error('no organizations');
    const { source, secret } = await sources.add({ organizationId: ours, name: 'Audited', plugin: 'generic', actor });
    expect(source.url).toBe(`https://alerts.example/alerts/${source.id}`);
    expect(sources.instructions(source, secret)).toContain(source.url);
    await expect(sources.find(theirs, source.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(sources.rotate(theirs, 'audited', actor)).rejects.toMatchObject({ code: 'not_found' });
    await expect(sources.remove(theirs, source.id, actor)).rejects.toMatchObject({ code: 'not_found' });
    await sources.rotate(ours, 'AUDITED', actor);
    await sources.remove(ours, 'audited', actor);
    const records = (await storage.workspace(ours).audit.list({ limit: 100 })).filter(
      ({ target }) => target === source.id,
    );
    expect(records.map(({ event, subject }) => `${event} ${subject}`)).toEqual([
      'alert_source.removed ada',
      'alert_source.rotated ada',
      'alert_source.created ada',
    ]);
    expect(JSON.stringify(await storage.workspace(ours).alertSources.list())).not.toContain(secret);
  });

  it('that are removed at that moment get no other secret, and are removed once', async () => {
    const { id, organizationId, workspace } = await addSource();
    const outcomes = await Promise.allSettled([
      sources.remove(organizationId, id, actor),
      sources.rotate(organizationId, id, actor),
      sources.remove(organizationId, id, actor),
    ]);
    const late = { status: 'rejected', reason: expect.objectContaining({ code: 'not_found' }) };
    expect(outcomes).toEqual([{ status: 'fulfilled', value: undefined }, late, late]);
    const records = (await workspace.audit.list({ limit: 100 })).filter(({ target }) => target === id);
    expect(records.map(({ event }) => event)).toEqual(['alert_source.removed', 'alert_source.created']);
  });

  it('have a plugin that is configured, and a secret that is one', async () => {
    const [organizationId] = organizations;
    if (organizationId === undefined) throw new Error('no organization');
    const add = (more: object) =>
      sources.add({ organizationId, name: 'Never', plugin: 'generic', actor, ...more }).catch((error: Error) => error);
    expect(await add({ plugin: 'nagios' })).toMatchObject({
      code: 'invalid_argument',
      hint: expect.stringContaining('generic'),
    });
    for (const secret of ['', 'short', 'with spaces in it, and long enough', 'ü'.repeat(20), 'x'.repeat(513)]) {
      expect(await add({ secret })).toMatchObject({ code: 'invalid_argument' });
    }
  });
});
