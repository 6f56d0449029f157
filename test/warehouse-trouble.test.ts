import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { federatedCredentials } from './support/bigquery/credentials.ts';
import { removeDirectory, sightline, temporaryDirectory } from './support/gateway.ts';
import { listen } from './support/listen.ts';
import { everyPostgresServer } from './support/postgres.ts';

const tenancy = { boundary: { mode: 'none', organization: 'acme' } };
const password = 'Secret-7f3a';
const clickhouse = {
  plugin: 'clickhouse',
  username: 'reader',
  password,
  mapping: { preset: 'otel-collector' },
  tenancy,
};
const postgres = {
  plugin: 'postgres',
  boundary: { secret: 's'.repeat(32) },
  mapping: { preset: 'postgres-exporter' },
  tenancy,
};
const bigquery = {
  plugin: 'bigquery',
  projectId: 'acme',
  location: 'EU',
  mapping: { preset: 'otel-collector' },
  tenancy,
};
const postgresUrl = (place: string) => `postgres://nobody_there:${password}@${place}/telemetry`;
const page = '<html><head><title>502 Bad Gateway</title></head></html>';
const wrongPassword =
  'Code: 516. DB::Exception: reader: Authentication failed. (AUTHENTICATION_FAILED) (version 26.7.2.1)';

/** Each engine's connection gone wrong, as `sightline telemetry inspect` says it. */
describe('a warehouse that cannot be connected to', () => {
  let directory = '';
  let web = '';
  let refuses = '';
  let keyFilename = '';
  const stops: (() => unknown)[] = [];
  const answering = async (status: number, body: string): Promise<string> => {
    const server = createServer((_, response) => void response.writeHead(status).end(body));
    stops.push(() => server.close());
    return `127.0.0.1:${await listen(server)}`;
  };
  const asked = async (telemetry: object, ...more: readonly string[]) => {
    const file = join(directory, 'trouble.json');
    await writeFile(file, JSON.stringify({ telemetry }));
    const env = { ...process.env, GOOGLE_APPLICATION_CREDENTIALS: keyFilename };
    return await sightline(directory, ['telemetry', 'inspect', '--json', '--config', file, ...more], { env });
  };
  const said = async (telemetry: object, ...more: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await asked(telemetry, ...more);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).not.toMatch(/Secret|    at |node_modules/);
    return z.object({ error: z.object({ message: z.string() }) }).parse(JSON.parse(stderr)).error.message;
  };
  const trouble = (place: string, why: string) => `The warehouse at ${place} cannot be used: ${why}.`;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    [web, refuses] = await Promise.all([answering(502, page), answering(403, wrongPassword)]);
    const credentials = await federatedCredentials(
      `http://${await answering(200, '{"access_token":"t","expires_in":3600}')}`,
    );
    keyFilename = credentials.keyFilename;
    stops.push(() => credentials.remove());
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await removeDirectory(directory);
  });

  it.each([
    ['clickhouse', (place: string) => ({ ...clickhouse, url: `http://${place}` })],
    ['postgres', (place: string) => ({ ...postgres, url: postgresUrl(place) })],
    ['bigquery', (place: string) => ({ ...bigquery, apiEndpoint: `http://${place}` })],
  ])('is named with host, port and cause: %s', async (plugin, at) => {
    expect(await said(at('127.0.0.1:1'))).toBe(trouble('127.0.0.1:1', 'nothing listens there'));
    const unknown = 'no-such-host.invalid:4321';
    expect(await said(at(unknown))).toBe(trouble(unknown, "the host's name cannot be resolved"));
    const why = {
      clickhouse: 'a web page answers, and no warehouse',
      postgres: 'the connection is closed at once',
      bigquery: 'something answers that is no warehouse',
    }[plugin];
    expect(await said(at(web))).toBe(trouble(web, why ?? ''));
  });

  it('is named where a port speaks no TLS, and where the password is wrong', async () => {
    const noTls = 'the server speaks no TLS there';
    expect(await said({ ...clickhouse, url: `https://${web}` })).toBe(trouble(web, noTls));
    const wrong = 'user or password are not right';
    expect(await said({ ...clickhouse, url: `http://${refuses}` })).toBe(trouble(refuses, wrong));
    expect(await said({ ...clickhouse, url: 'http://127.0.0.1:1' }, '--url', `http://admin@${refuses}`)).toBe(
      trouble(refuses, wrong),
    );
    const [server, ...others] = await everyPostgresServer();
    for (const other of others) await other.stop();
    if (server === undefined) return;
    const place = `${server.host}:${server.port}`;
    expect(await said({ ...postgres, url: postgresUrl(place), ssl: true })).toBe(trouble(place, noTls));
    expect(await said({ ...postgres, url: postgresUrl(place) })).toMatch(
      /: (user or password are not right|there is no such database)\.$/,
    );
    await server.stop();
  }, 60_000);
});
