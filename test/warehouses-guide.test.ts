import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { tenancySchema } from '../src/contract/telemetry/index.ts';
import { asPsql } from '../plugins/telemetry-postgres/support/warehouse.ts';
import { callTool } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightline,
  startGateway,
  temporaryDirectory,
} from './support/gateway.ts';
import { embeddedServer, type PostgresServer } from './support/postgres.ts';

/* docs/warehouses.md, followed as it is written. */

const page = await readFile(join(root, 'docs/warehouses.md'), 'utf8');
const blocks = (language: string, text = page) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);

let directory = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => removeDirectory(directory));

it('the guide to warehouses names every engine that is shipped and every mode of tenancy', async () => {
  const shipped = (await readdir(join(root, 'plugins'))).filter((name) => name.startsWith('telemetry-'));
  for (const name of shipped.filter((plugin) => plugin !== 'telemetry-duckdb')) {
    expect(page).toContain(`plugin: ${name.slice('telemetry-'.length)}\n`);
  }
  const modes = tenancySchema.shape.boundary.options.map(({ shape }) => shape.mode.value);
  expect(modes).toContain('column');
  for (const mode of modes) expect(page).toContain(`\n- \`${mode}\``);
});

describe('tables mapped by hand, from nothing to an answer', () => {
  const byHand = page.slice(page.indexOf('## Mapping by hand'));
  const unique = randomBytes(4).toString('hex');
  const [login, owner, password] = [`sl_gateway_${unique}`, `sl_owner_${unique}`, randomBytes(12).toString('hex')];
  const secret = randomBytes(32).toString('hex');
  let server: PostgresServer;
  let database = '';
  let env: Readonly<Record<string, string>> = {};

  beforeAll(async () => {
    server = await embeddedServer();
    database = await server.createDatabase();
    const [tables = ''] = blocks('sql', byHand);
    const [config = ''] = blocks('yaml', byHand);
    await server.admin(tables, database);
    await server.admin(rowsOf('acme-inc') + rowsOf('globex-7') + rowsOf('someone-else'), database);
    const file = join(directory, 'guide.yaml');
    // Roles are the whole server's, so that those of a test have names of its own.
    await writeFile(file, config.replace(/^( +)secret: .*$/m, `$&\n$1owner: ${owner}\n$1login: ${login}`));
    env = { BOUNDARY_SECRET: secret, SIGHTLINE_CONFIG: file, WAREHOUSE_URL: server.url(database, login, password) };
    await server.admin(`CREATE ROLE administrator SUPERUSER LOGIN PASSWORD '${password}'`);
    const admin = server.url(database, 'administrator', password);
    for (const more of [[], ['--harden']]) {
      const args = ['telemetry', 'setup', '--print', '--url', admin, ...more];
      const printed = await sightline(directory, args, { env });
      expect(printed).toMatchObject({ code: 0, stderr: '' });
      await server.admin(asPsql(printed.stdout, { gateway_password: password, boundary_secret: secret }), database);
    }
  });
  afterAll(() => server.stop());

  it('are looked at by the same login', async () => {
    const { code, stdout } = await sightline(directory, ['telemetry', 'inspect'], { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('PostgreSQL 18') });
  });

  it('pass the doctor', async () => {
    for (const name of ['acme', 'globex']) await sightline(directory, ['org', 'create', name], { env });
    const { code, stdout } = await sightline(directory, ['doctor', '--json'], { env });
    const { checks } = z
      .object({ checks: z.array(z.object({ check: z.string(), status: z.string(), detail: z.string() })) })
      .parse(JSON.parse(stdout));
    expect(checks.filter(({ status, check }) => status !== 'ok' && check !== 'gateway')).toEqual([]);
    expect(checks).toContainEqual(expect.objectContaining({ check: 'tenant token', status: 'ok' }));
    expect(code).toBe(0);
  });

  it('show each organization its own rows through the gateway, and nothing to one that is not listed', async () => {
    const gateway = await startGateway(directory, { env });
    try {
      const asked = async (organization: string, sql: string) => {
        const token = await exchange(gateway.url, await createKey(directory, organization));
        return await callTool(gateway.url, token, 'query_otel', { sql });
      };
      const sql = `
        SELECT s.service_name, s.duration_nano, s.status_code, s.end_time - s.time AS took, l.body, l.severity_number
        FROM otel.spans AS s JOIN otel.logs AS l ON l.attributes ->> 'request' = s.attributes ->> 'request'`;
      for (const [organization, customer] of [
        ['acme', 'acme-inc'],
        ['globex', 'globex-7'],
      ] as const) {
        expect((await asked(organization, sql)).structured).toMatchObject({
          rows: [['shop', '1500000', 'ERROR', '00:00:00.0015', `card of ${customer} refused`, '17']],
        });
      }
      const stranger = await asked('stranger', sql);
      expect(stranger).toMatchObject({ isError: true, text: expect.stringContaining('forbidden') });
      const metrics = await asked('acme', 'SELECT name FROM otel.metrics');
      expect(metrics).toMatchObject({ isError: true, text: expect.stringContaining('unknown_table') });
    } finally {
      await gateway.stop();
    }
  });
});

function rowsOf(customer: string): string {
  const tags = `'{"request": "${customer}-1"}'`;
  return `
    INSERT INTO obs.requests VALUES (now() - interval '1 minute', 1500, '${customer}', 'shop', 'POST /pay', true, '${'ab'.repeat(16)}', '${'cd'.repeat(8)}', NULL, ${tags});
    INSERT INTO obs.app_log VALUES (now() - interval '1 minute', '${customer}', 'shop', 'error', 'card of ${customer} refused', ${tags});`;
}
