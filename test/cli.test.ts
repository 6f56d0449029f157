import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Sandbox, type Ended } from './support/cli.ts';

const exec = promisify(execFile);

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.create();
});
afterEach(() => box.remove());

const organization = z.strictObject({ id: z.string().regex(/^org_/), name: z.string() });
const pair = z.strictObject({ client_id: z.string().regex(/^ak_/), client_secret: z.string().min(43) });
const failure = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), hint: z.string().optional() }),
});

function json<Shape extends z.ZodType>(shape: Shape, { code, stdout, stderr }: Ended): z.output<Shape> {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.endsWith('\n')).toBe(true);
  return shape.parse(JSON.parse(stdout));
}

function errorOf({ stdout, stderr }: Ended): z.infer<typeof failure>['error'] {
  expect(stdout).toBe('');
  return failure.parse(JSON.parse(stderr)).error;
}

async function newKey(scopes = 'all'): Promise<z.infer<typeof pair>> {
  return json(pair, await box.run('key', 'create', '--org', 'Acme', '--name', 'ci', '--json', '--scopes', scopes));
}

describe('organizations and keys', () => {
  beforeEach(async () => {
    expect(json(organization, await box.run('org', 'create', 'Acme', '--json')).name).toBe('Acme');
  });

  it('refuses a second organization of the same name', async () => {
    const again = await box.run('org', 'create', 'acme', '--json');
    expect(again.code).toBe(1);
    expect(errorOf(again).code).toBe('conflict');
    const all = json(z.array(z.looseObject({ name: z.string() })), await box.run('org', 'list', '--json'));
    expect(all.map(({ name }) => name)).toEqual(['Acme']);
  });

  it('gives a key at most two secrets and never takes the last', async () => {
    const first = await newKey();
    const second = json(pair, await box.run('key', 'rotate', first.client_id, '--json'));
    expect(second.client_id).toBe(first.client_id);
    expect(second.client_secret).not.toBe(first.client_secret);
    const third = await box.run('key', 'rotate', first.client_id, '--json');
    expect(third.code).toBe(1);
    expect(errorOf(third)).toMatchObject({ code: 'conflict', hint: expect.stringContaining('key retire') });

    expect((await box.run('key', 'retire', first.client_id)).code).toBe(0);
    const last = await box.run('key', 'retire', first.client_id, '--json');
    expect(last.code).toBe(1);
    expect(errorOf(last).code).toBe('conflict');

    expect((await box.run('key', 'revoke', first.client_id)).code).toBe(0);
    const gone = await box.run('key', 'rotate', first.client_id, '--json');
    expect(gone.code).toBe(1);
    expect(errorOf(gone).code).toBe('not_found');
  });

  it('discards a new secret that was lost, and says of each how it ends', async () => {
    const first = await newKey();
    json(pair, await box.run('key', 'rotate', first.client_id, '--json'));
    const third = await box.run('key', 'rotate', first.client_id, '--json');
    expect(errorOf(third).hint).toContain('key discard');
    expect((await box.run('key', 'discard', first.client_id)).code).toBe(0);
    const rows = z.array(z.looseObject({ secrets: z.array(z.looseObject({ last_four: z.string() })) }));
    const [row] = json(rows, await box.run('key', 'list', '--json'));
    expect(row?.secrets.map(({ last_four }) => last_four)).toEqual([first.client_secret.slice(-4)]);
    expect((await box.run('key', 'list')).stdout).toContain(`…${first.client_secret.slice(-4)}`);
  });

  it('pauses and resumes a key', async () => {
    const { client_id: id } = await newKey();
    expect((await box.run('key', 'pause', id)).stdout).toContain(`sightline key resume ${id}`);
    expect((await box.run('key', 'list')).stdout).toContain('ci (paused)');
    expect((await box.run('key', 'resume', id)).code).toBe(0);
    expect((await box.run('key', 'list')).stdout).not.toContain('paused');
  });

  it('names the member who made a key by address', async () => {
    const { client_id: id } = await newKey();
    const member = json(
      z.looseObject({ id: z.string() }),
      await box.run('user', 'create', '--email', 'ana@example.com', '--org', 'Acme', '--json'),
    );
    // People make keys on a page.
    const database = new DatabaseSync(join(box.data, 'sightline.sqlite'));
    database.prepare('UPDATE api_keys SET created_by = ? WHERE id = ?').run(member.id, id);
    database.close();
    const { stdout } = await box.run('key', 'list');
    expect([stdout.includes('ana@example.com'), stdout.includes(member.id)]).toEqual([true, false]);
    const rows = z.array(z.looseObject({ created_by: z.string() }));
    expect(json(rows, await box.run('key', 'list', '--json'))[0]?.created_by).toBe(member.id);
  });

  it('lists the ingest tokens of one organization, and ends one by its id', async () => {
    await box.run('org', 'create', 'Other');
    const { token } = json(
      z.looseObject({ token: z.string() }),
      await box.run('ingest', 'rotate', '--org', 'Acme', '--json'),
    );
    const rows = z.array(z.looseObject({ id: z.string(), last_four: z.string(), created_by: z.string() }));
    const of = async (org: string) => json(rows, await box.run('ingest', 'tokens', '--org', org, '--json'));
    const [newest, first, ...more] = await of('Acme');
    expect([newest?.last_four, first?.created_by, more]).toEqual([token.slice(-4), 'system', []]);
    expect((await of('Other')).map(({ id }) => id)).not.toContain(first?.id);
    expect((await box.run('ingest', 'revoke', first?.id ?? '', '--org', 'Other')).code).toBe(1);
    expect((await box.run('ingest', 'revoke', first?.id ?? '', '--org', 'Acme')).code).toBe(0);
    expect((await of('Acme')).map(({ id }) => id)).toEqual([newest?.id]);
    expect((await box.run('ingest', 'tokens', '--org', 'Acme')).stdout).not.toContain(token.slice(0, -4));
  });

  it('grants the scopes that are named, and refuses one that does not exist', async () => {
    const everything = await newKey();
    const some = await newKey('chats:read,telemetry:read');
    const rows = z.array(z.looseObject({ client_id: z.string(), scopes: z.array(z.string()) }));
    const listed = json(rows, await box.run('key', 'list', '--org', 'Acme', '--json'));
    const scopes = Object.fromEntries(listed.map((row) => [row.client_id, row.scopes]));
    expect(scopes[everything.client_id]).toHaveLength(5);
    expect(scopes[some.client_id]).toEqual(['telemetry:read', 'chats:read']);

    for (const wrong of ['chats:admin', '', ',']) {
      const refused = await box.run('key', 'create', '--org', 'Acme', '--name', 'x', '--scopes', wrong, '--json');
      expect(refused.code).toBe(2);
      expect(errorOf(refused).code).toBe('invalid_argument');
    }
  });

  it('says how to end the ingest token before, in words that work with several organizations', async () => {
    await box.run('org', 'create', 'Other');
    expect((await box.run('ingest', 'show', '--org', 'Acme')).code).toBe(0);
    const rotated = await box.run('ingest', 'rotate', '--org', 'Acme');
    const [, command = ''] = /sightline (ingest revoke .*)/.exec(rotated.stdout) ?? [];
    expect((await box.run(...command.split(' '))).stdout).toContain('is revoked');
  });

  it('prints commands that work as pasted, for the organization that was named', async () => {
    for (const name of ['Acme', "Bob's shop"]) await box.run('org', 'create', name);
    const { stdout } = await box.run('webhook', 'add', 'http://127.0.0.1:9/', '--org', "Bob's shop");
    const [, id = ''] = /^id +(\S+)$/m.exec(stdout) ?? [];
    expect(stdout).toContain(`\n  sightline webhook test ${id} --org 'Bob'\\''s shop'\n`);
    expect((await box.run('webhook', 'list', '--org', 'Acme')).stdout).toContain(
      'sightline webhook add URL --org Acme',
    );
    expect((await box.run('alert-source', 'list', '--org', 'Acme')).stdout).toMatch(/--name NAME --org Acme\n/);
    expect((await box.run('scim', 'list', '--org', 'Acme')).stdout).toContain('sightline scim create --org Acme');
    expect((await box.run('key', 'list', '--org', 'Acme')).stdout).toContain('--scopes LIST --org Acme');
    const { stderr } = await box.run('incident', 'show', 'INC-9', '--org', 'Acme');
    expect(stderr).toContain('sightline incident list --org Acme names');
  });

  it('makes people members, and refuses what is no address or role', async () => {
    const made = await box.run(
      'user',
      'create',
      '--email',
      'ada@example.com',
      '--name',
      'Ada',
      '--org',
      'Acme',
      '--role',
      'admin',
      '--json',
    );
    json(
      z.strictObject({
        id: z.string(),
        email: z.literal('ada@example.com'),
        name: z.literal('Ada'),
        org: z.literal('Acme'),
        role: z.literal('admin'),
        password_url: z.url(),
      }),
      made,
    );
    const listed = await box.run('user', 'list', '--org', 'Acme');
    expect(listed.stdout).toMatch(/ada@example\.com\s+Ada\s+Acme\s+admin/);
    expect((await box.run('user', 'create', '--email', 'nobody', '--org', 'Acme')).code).toBe(2);
    expect((await box.run('user', 'create', '--email', 'a@b.example', '--org', 'Acme', '--role', 'root')).code).toBe(2);
  });
});

describe('usage', () => {
  it.each([
    [['kye', 'list'], 'Did you mean key?', 'sightline --help'],
    [['key', 'rotat', 'ak_1'], 'Did you mean rotate?', 'sightline key --help'],
    [['key', 'create', '--org', 'a', '--nam', 'b'], 'Did you mean --name?', 'sightline key create --help'],
    [['key', 'create', '--org', 'a'], '--name', 'sightline key create --help'],
    [['key', 'create', '--org', 'a', '--name', 'b'], '--scopes', 'sightline key create --help'],
    [['org', 'create'], 'name', 'sightline org create --help'],
    [['org', 'create', 'a', 'b'], 'Too many arguments', 'sightline org create --help'],
    [['serve', '--port', '70000'], '65535', '--help'],
    [['demo', '--scenario', 'payment-error'], 'payment-errors', 'sightline demo --help'],
  ])('%j: code 2, says what is meant and where help is', async (args, said, help) => {
    const plain = await box.start(args).ended;
    expect(plain).toMatchObject({ code: 2, stdout: '' });
    expect(plain.stderr).toContain(said);
    expect(plain.stderr).toContain(help);
    const scripted = await box.start([...args, '--json']).ended;
    expect(scripted.code).toBe(2);
    expect(errorOf(scripted).code).toBe('usage');
  });

  it('documents the exit codes, and answers help on standard output with 0', async () => {
    const help = await box.start(['--help']).ended;
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/Exit codes:\n {2}0 {2}done/);
    const own = await box.start(['key', 'create', '--help']).ended;
    expect(own.stdout).toContain('--scopes');
    expect(own.stdout).toContain('--data');
  });

  it('takes the global options before and after the command, and from the environment', async () => {
    await box.run('org', 'create', 'Acme');
    const before = await box.start(['--data', box.data, 'org', 'list', '--json']).ended;
    expect(before.stdout).toContain('Acme');
    const variable = await box.start(['org', 'list', '--json'], { SIGHTLINE_DATA: box.data }).ended;
    expect(variable.stdout).toContain('Acme');
  });

  it('colours nothing that is not a terminal', async () => {
    const listed = await box.run('org', 'list');
    expect(`${listed.stdout}${listed.stderr}`).not.toContain('\u{1b}');
  });

  it('names the broken place of a config file and ends with 3', async () => {
    const file = join(box.directory, 'mine.yaml');
    await writeFile(file, 'listen:\n  prot: 80\n');
    const checked = await box.start(['config', 'check', '--config', file, '--json']).ended;
    expect(checked.code).toBe(3);
    expect(errorOf(checked).message).toContain('prot');
  });
});

describe('incident import', () => {
  beforeEach(() => box.run('org', 'create', 'Acme'));

  const incident = {
    title: 'Disk full',
    severity: 'high',
    started_at: '2026-11-20T10:00:00Z',
    services: ['db'],
    document: '## Summary\n\nFull.',
  };
  const write = async (content: string): Promise<string> => {
    const file = join(box.directory, 'incidents.json');
    await writeFile(file, content);
    return file;
  };

  it('imports, lists and moves incidents', async () => {
    const file = await write(
      JSON.stringify([
        incident,
        { ...incident, title: 'Disk slow', status: 'identified', waiting_on: { party: 'external', name: 'vendor' } },
      ]),
    );
    const done = await box.run('incident', 'import', file, '--org', 'Acme', '--json');
    json(z.strictObject({ imported: z.literal(2), keys: z.tuple([z.literal('INC-1'), z.literal('INC-2')]) }), done);
    expect((await box.run('incident', 'update', 'inc-2', '--status', 'resolved')).code).toBe(0);
    const open = await box.run('incident', 'list', '--status', 'open');
    expect(open.stdout).toContain('Disk full');
    expect(open.stdout).not.toContain('Disk slow');
    const refused = await box.run('incident', 'update', 'INC-2', '--status', 'triage', '--json');
    expect(errorOf(refused).code).toBe('conflict');
  });

  it.each([
    ['not JSON', '[{', 'not JSON'],
    ['an object', JSON.stringify(incident), 'the file'],
    ['an unknown field', JSON.stringify([incident, { ...incident, sevrity: 'low' }]), 'incidents[1]'],
    ['a wrong severity', JSON.stringify([{ ...incident, severity: 'urgent' }]), 'incidents[0].severity'],
    ['a wrong time', JSON.stringify([{ ...incident, started_at: 'yesterday' }]), 'incidents[0].started_at'],
    ['nothing', '[]', 'the file'],
  ])('refuses %s and writes nothing', async (_what, content, place) => {
    const refused = await box.run('incident', 'import', await write(content), '--json');
    expect(refused.code).toBe(2);
    expect(errorOf(refused).message).toContain(place);
    expect(json(z.array(z.unknown()), await box.run('incident', 'list', '--json'))).toEqual([]);
  });

  it('prints no title that could move the cursor', async () => {
    const file = await write(JSON.stringify([{ ...incident, title: 'Disk\u{1b}[2J full\u{7}' }]));
    expect((await box.run('incident', 'import', file)).code).toBe(0);
    expect((await box.run('incident', 'list')).stdout).toMatch(/Disk full$/m);
  });

  it('says that a file is not there', async () => {
    const refused = await box.run('incident', 'import', 'nowhere.json', '--json');
    expect(refused.code).toBe(2);
    expect(errorOf(refused).message).toContain('nowhere.json does not exist');
  });
});

describe('beside a gateway', () => {
  it('creates, exchanges and revokes keys while the gateway runs, and a second gateway names the first', async () => {
    const { cli, url } = await box.serve('--no-demo');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    await box.run('org', 'create', 'Acme');
    const key = await newKey();
    const exchange = () =>
      fetch(`${url}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', ...key }),
      });
    const token = z.looseObject({ access_token: z.string() }).parse(await (await exchange()).json()).access_token;
    const list = () =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      });
    expect((await list()).status).toBe(200);
    expect((await box.run('key', 'revoke', key.client_id, '--json')).code).toBe(0);
    expect((await list()).status).toBe(401);
    expect((await exchange()).status).toBe(401);

    const second = await box.run('serve', '--port', '0');
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(String(cli.pid));
    expect(second.stderr).toContain(url);

    const shape = z.object({
      ok: z.literal(true),
      checks: z.array(z.object({ check: z.string(), status: z.string(), detail: z.string() })),
    });
    const { checks } = json(shape, await box.run('doctor', '--json'));
    expect(checks.find(({ check }) => check === 'gateway')?.detail).toContain(url);
    expect(checks.find(({ check }) => check === 'ingest')?.detail).toContain('no telemetry came in yet');
  });

  it('sends demo telemetry and OTLP files through the running gateway, and says so when none runs', async () => {
    const alone = await box.run('org', 'create', 'Acme');
    expect(alone.code).toBe(0);
    const refused = await box.run('demo', '--json');
    expect(refused.code).toBe(1);
    expect(errorOf(refused)).toMatchObject({ code: 'unavailable', hint: expect.stringContaining('serve') });

    await box.serve();
    const sent = await box.run('demo', '--scenario', 'slow-query', '--seed', '3', '--minutes', '5', '--json');
    const shape = z.looseObject({
      spans: z.number().min(100),
      rejected: z.literal(0),
      incident: z.literal('INC-1'),
      truth: z.looseObject({ service: z.literal('inventory') }),
    });
    json(shape, sent);

    const file = join(box.directory, 'logs.json');
    await writeFile(file, '{"resourceLogs":[]}\n{"resourceSpans":[]}\n');
    json(
      z.strictObject({ requests: z.literal(2), rejected: z.literal(0) }),
      await box.run('ingest', 'send', file, '--json'),
    );
    await writeFile(file, '{"resourceLogs":[]}\n{"resourceSpan":[]}\n');
    const broken = await box.run('ingest', 'send', file, '--json');
    expect(broken.code).toBe(2);
    expect(errorOf(broken).message).toContain('line 2');
  });

  it('says which port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const refused = await box.run('serve', '--port', port, '--no-demo');
    other.close();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(port);
    expect(
      refused.stderr
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('{')).length,
    ).toBeLessThanOrEqual(2);
  });

  it('finishes the request in flight after SIGTERM, and ends with 0', async () => {
    const { cli, url } = await box.serve('--no-demo');
    const body = 'grant_type=client_credentials&client_id=ak_unknown&client_secret=x';
    const half = request(`${url}/oauth2/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
        expect: '100-continue',
      },
    });
    half.flushHeaders();
    // The server has taken the request on once it says so.
    await once(half, 'continue');
    half.write(body.slice(0, 10));
    cli.kill('SIGTERM');
    await cli.printed(/Stopping/);
    half.end(body.slice(10));
    const [response] = await once(half, 'response');
    expect(z.object({ statusCode: z.number() }).parse(response).statusCode).toBe(401);
    expect((await cli.ended).code).toBe(0);
  });

  it('ends at once at the second signal', async () => {
    const { cli, url } = await box.serve('--no-demo');
    const half = request(`${url}/oauth2/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': 100, expect: '100-continue' },
    });
    half.on('error', () => undefined);
    half.flushHeaders();
    await once(half, 'continue');
    cli.kill('SIGTERM');
    await cli.printed(/Stopping/);
    cli.kill('SIGTERM');
    expect((await cli.ended).code).toBe(130);
  });
});

describe('the first start', () => {
  it('prints three commands that work as printed; the second start prints no secret', async () => {
    const first = await box.serve();
    const [pasted = ''] = await first.cli.printed(/# 1\.[\s\S]+# 3\.[^\n]+\n(?:.+\n)+/);
    expect(first.cli.stdout).toMatch(/client_secret {2}aks_/);
    expect(first.cli.stdout).toContain('INC-1');
    const { stdout, stderr } = await exec('sh', ['-c', pasted], { cwd: box.directory });
    expect(stderr).toBe('');
    const [token, rest] = [stdout.slice(0, stdout.indexOf('\n')), stdout.slice(stdout.indexOf('\n') + 1)];
    expect(token.split('.')).toHaveLength(3);
    // Two JSON-RPC answers, one after the other.
    const [tools, rows] = rest.replace(/\}\s*\{"jsonrpc"/, '}\n{"jsonrpc"').split('\n');
    const listed = z
      .object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) })
      .parse(JSON.parse(tools ?? ''));
    expect(listed.result.tools).toHaveLength(8);
    const answer = z.object({
      result: z.object({
        structuredContent: z.object({ rows: z.array(z.tuple([z.string(), z.unknown(), z.unknown()])) }),
      }),
    });
    const services = answer.parse(JSON.parse(rows ?? '')).result.structuredContent.rows.map(([service]) => service);
    expect(services).toContain('checkout');

    const call = async (name: string, args: object): Promise<unknown> => {
      const response = await fetch(`${first.url}/mcp`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name, arguments: args } }),
      });
      return z.object({ result: z.object({ structuredContent: z.unknown() }) }).parse(await response.json()).result
        .structuredContent;
    };
    const incident = z.looseObject({
      investigation: z
        .object({ status: z.string(), steps: z.array(z.looseObject({ sql: z.string().optional() })) })
        .optional(),
    });
    const read = async () =>
      incident.parse(await call('read_incident', { incident_id: 'INC-1', include: ['investigation', 'evidence'] }))
        .investigation;
    let investigation = await read();
    while (investigation?.status !== 'completed') {
      await delay(200);
      investigation = await read();
    }
    const evidence = z
      .object({ rows: z.array(z.unknown()) })
      .parse(await call('query_otel', { sql: investigation.steps[0]?.sql }));
    expect(evidence.rows.length).toBeGreaterThan(10);
    const { chats } = z.object({ chats: z.array(z.unknown()) }).parse(await call('list_chats', { mine: true }));
    expect(chats).toHaveLength(1);

    first.cli.kill('SIGTERM');
    expect((await first.cli.ended).code).toBe(0);
    const second = await box.serve();
    second.cli.kill('SIGTERM');
    const { stdout: again, code } = await second.cli.ended;
    expect(code).toBe(0);
    expect(again).not.toMatch(/aks_|client_secret|TOKEN/);
  });

  it('starts empty with --no-demo', async () => {
    const { cli } = await box.serve('--no-demo');
    await cli.printed(/# 3\./);
    expect(json(z.array(z.unknown()), await box.run('incident', 'list', '--json'))).toEqual([]);
  });
});

describe('doctor', () => {
  it('fails over a master key that others can read, and says what to do', async () => {
    await box.run('org', 'create', 'Acme');
    await chmod(join(box.data, 'master.key'), 0o644);
    const found = await box.run('doctor');
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/FAIL +master key.+mode 0644/);
    expect(found.stdout).toContain('chmod 600');
  });

  it('fails under a master key of another storage, as every command does that could write with it', async () => {
    await box.serve('--no-demo');
    const other = { SIGHTLINE_MASTER_KEY: randomBytes(32).toString('base64url') };
    const wrong = (...args: string[]) => box.start([...args, '--data', box.data], other).ended;
    const made = await wrong('user', 'create', '--email', 'ada@example.com', '--org', 'default');
    expect([made.code, made.stderr]).toEqual([3, expect.stringContaining('Put back the master key')]);
    expect((await wrong('doctor')).stdout).toMatch(/FAIL +storage +The master key does not open/);
    expect((await wrong('migrate')).code).toBe(0);
    expect((await box.run('audit', 'verify')).code).toBe(0);
  });

  it('takes an empty SIGHTLINE_MASTER_KEY for none, as the gateway does', async () => {
    await box.run('org', 'create', 'Acme');
    const { stdout } = await box.start(['doctor', '--data', box.data], { SIGHTLINE_MASTER_KEY: ' ' }).ended;
    expect(stdout).toMatch(/ok +master key +\S+master\.key/);
  });
});
