/**
 * The token endpoint beside bare oidc-provider with the same grant, resource, algorithm and claims, its clients in memory:
 * requests a second and processor time a request, medians of rounds in turns. Load comes from another process.
 *
 *     node bench/token.ts [seconds of a round, 2]
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Provider from 'oidc-provider';
import { z } from 'zod';
import issuerPlugin from '../plugins/issuer-builtin/index.ts';
import storagePlugin from '../plugins/storage-knex/index.ts';
import { issuerHost } from '../src/app/issuer-host.ts';
import { createApiKeys } from '../src/auth/api-keys.ts';
import { silentLogger, testHost } from '../src/contract-tests/host.ts';
import { newId } from '../src/contract/index.ts';
import { createHttpApp } from '../src/http/app.ts';

const seconds = Number(process.argv[2] ?? 2);
const rounds = 7;
const autocannon = createRequire(import.meta.url).resolve('autocannon');
const report = z.object({
  '2xx': z.number(),
  non2xx: z.number(),
  latency: z.object({ p50: z.number(), p99: z.number() }),
});

interface Pair {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly pair: Pair;
}

interface Round {
  readonly cpu: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

async function measure({ name, url, pair }: Contender, duration: number): Promise<Round> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: pair.clientId,
    client_secret: pair.clientSecret,
    scope: 'telemetry:read',
  }).toString();
  const args = [autocannon, '--json', '-c', '16', '-d', String(duration), '-m', 'POST', '-b', body];
  const before = process.cpuUsage();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...args, '-H', 'content-type=application/x-www-form-urlencoded', `${url}/oauth2/token`],
    { maxBuffer: 1 << 24 },
  );
  const { user, system } = process.cpuUsage(before);
  const { '2xx': good, non2xx, latency } = report.parse(JSON.parse(stdout));
  if (non2xx > 0 || good === 0) throw new Error(`${name}: ${non2xx} requests were refused`);
  return { cpu: (user + system) / good, rate: good / duration, ...latency };
}

async function withServer(run: (url: string, serve: (handler: RequestListener) => void) => Promise<void>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  try {
    return await run(`http://127.0.0.1:${address.port}`, (handler) => server.on('request', handler));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const withBare = (use: (contender: Contender) => Promise<void>) =>
  withServer(async (url, serve) => {
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    const pair = { clientId: newId('ak'), clientSecret: 'b'.repeat(43) };
    const [organization, secret] = [newId('org'), newId('sec')];
    const provider = new Provider(url, {
      jwks: { keys: [{ ...jwk, kty: 'EC', use: 'sig', alg: 'ES256' }] },
      clients: [
        {
          client_id: pair.clientId,
          client_secret: pair.clientSecret,
          grant_types: ['client_credentials'],
          response_types: [],
          redirect_uris: [],
        },
      ],
      clientDefaults: { id_token_signed_response_alg: 'ES256' },
      // A token that says as much as ours.
      extraTokenClaims: () => ({ org: organization, kind: 'key', secret_id: secret }),
      routes: { token: '/oauth2/token' },
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => `${url}/mcp`,
          getResourceServerInfo: () => ({
            scope: 'telemetry:read',
            accessTokenFormat: 'jwt',
            accessTokenTTL: 3600,
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    });
    const callback = provider.callback();
    serve((request, response) => void callback(request, response));
    await use({ name: 'bare oidc-provider', url, pair });
  });

const withOurs = (use: (contender: Contender) => Promise<void>) =>
  withServer(async (url, serve) => {
    const directory = await mkdtemp(join(tmpdir(), 'bench-token-'));
    const host = testHost(directory, { publicUrl: url, authUrl: url });
    const resource = `${url}/mcp`;
    const storage = storagePlugin.create(storagePlugin.configSchema.parse({}), host);
    const issuer = issuerPlugin.create(issuerPlugin.configSchema.parse({}), issuerHost(host, storage, resource));
    try {
      await storage.start(AbortSignal.timeout(10_000));
      await storage.migrate();
      await issuer.start(AbortSignal.timeout(10_000));
      const organization = await storage.directory.createOrganization({ name: 'bench' });
      const pair = await createApiKeys({ storage, now: host.now }).create({
        organizationId: organization.id,
        name: 'bench',
        scopes: ['telemetry:read'],
        actor: { kind: 'operator', id: 'bench', name: 'bench' },
      });
      serve(
        createHttpApp({
          issuer,
          pages: (_request, _response, next) => next(),
          publicUrl: url,
          authUrl: url,
          resource,
          resourceName: 'bench',
          resourceMetadata: {},
          health: async () => ({ ok: true, components: {} }),
          ready: () => true,
          allowedHosts: [new URL(url).host],
          trustProxy: false,
          logger: silentLogger,
        }),
      );
      await use({ name: 'sightline', url, pair });
    } finally {
      await issuer.stop();
      await storage.stop();
      await rm(directory, { recursive: true, force: true });
    }
  });

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

await withBare((bare) =>
  withOurs(async (own) => {
    const contenders = [bare, own];
    for (const contender of contenders) await measure(contender, 2);
    const results = contenders.map((): Round[] => []);
    // In turns, since the machine is not still.
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, contender] of contenders.entries()) results[index]?.push(await measure(contender, seconds));
    }
    const cpu = contenders.map(({ name }, index) => {
      const ofAll = (figure: keyof Round) => median((results[index] ?? []).map((each) => each[figure]));
      const rate = `${Math.round(ofAll('rate'))} req/s`.padStart(11);
      console.log(
        `${name.padEnd(20)} ${rate}  ${ofAll('cpu').toFixed(0)} µs CPU  p50 ${ofAll('p50')} ms  p99 ${ofAll('p99')} ms`,
      );
      return ofAll('cpu');
    });
    const ratio = (cpu[0] ?? 0) / (cpu[1] ?? 1);
    console.log(`\nSpeed beside bare oidc-provider, by processor time: ${ratio.toFixed(2)} (bar: at least 0.8)`);
  }),
);
