/**
 * The token endpoint beside bare oidc-provider with the same grant, resource, algorithm and claims, its clients in memory:
 * processor time a request. Each server is a process of its own, started anew for every round, since what the compiler
 * makes of one run differs from the next by more than what is looked for. Within a round they take short turns, so that a
 * machine whose speed changes changes it for both. Load comes from this process.
 *
 *     node bench/token.ts [rounds, 7]
 */
import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import Provider from 'oidc-provider';
import { z } from 'zod';
import issuerPlugin from '../plugins/issuer-builtin/index.ts';
import storagePlugin from '../plugins/storage-knex/index.ts';
import { issuerHost } from '../src/gateway/wiring/plugins.ts';
import { createApiKeys } from '../src/identity/verify/api-keys.ts';
import { silentLogger, testHost } from '../test/contract/host.ts';
import { newId } from '../src/contract/core/index.ts';
import { createSiteApp } from '../test/support/http-app.ts';
import { createAuditWriter } from '../src/records/audit/writer.ts';

const rounds = Number(process.argv[2] ?? 7);
const turns = 12;
const requests = { warming: 10_000, turn: 2_000 };
/** Audit records are written this much later at most, and count. */
const afterwardsMs = 250;

interface Pair {
  readonly clientId: string;
  readonly clientSecret: string;
}

const served = z.object({ url: z.string(), pair: z.object({ clientId: z.string(), clientSecret: z.string() }) });
const cpuMicroseconds = z.number();

interface Turn {
  /** Microseconds a request. */
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
}

/** A server in a process of its own. */
async function contender(name: string) {
  const child = fork(import.meta.filename, ['serve', name]);
  const answer = async <Shape>(shape: z.ZodType<Shape>) => shape.parse((await once(child, 'message'))[0]);
  const { url, pair } = await answer(served);
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: pair.clientId,
    client_secret: pair.clientSecret,
    scope: 'telemetry:read',
  }).toString();
  const cpu = () => {
    child.send('cpu');
    return answer(cpuMicroseconds);
  };
  return {
    async load(amount: number): Promise<Turn> {
      const before = await cpu();
      const { non2xx, errors, latency } = await autocannon({
        url: `${url}/oauth2/token`,
        connections: 16,
        amount,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
      });
      if (non2xx + errors > 0) throw new Error(`${name}: ${non2xx + errors} requests were refused`);
      await sleep(afterwardsMs);
      return { cpu: ((await cpu()) - before) / amount, ...latency };
    },
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}

/** Until the parent lets go. */
async function serve(make: (url: string) => Promise<{ pair: Pair; handler: RequestListener; stop(): Promise<void> }>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}`;
  const { pair, handler, stop } = await make(url);
  server.on('request', handler);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.send?.({ url, pair });
  await once(process, 'disconnect');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await stop();
}

const serveBare = () =>
  serve(async (url) => {
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
    return { pair, handler: (request, response) => void callback(request, response), stop: async () => {} };
  });

const serveOurs = () =>
  serve(async (url) => {
    const directory = await mkdtemp(join(tmpdir(), 'bench-token-'));
    const host = testHost(directory, { publicUrl: url, authUrl: url });
    const resource = `${url}/mcp`;
    const storage = storagePlugin.create(storagePlugin.configSchema.parse({}), host);
    const audit = createAuditWriter({ storage, logger: silentLogger });
    const issuer = issuerPlugin.create(
      issuerPlugin.configSchema.parse({}),
      issuerHost(host, { storage, audit }, resource),
    );
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
    const handler = createSiteApp({
      issuer,
      pages: (_request, _response, next) => next(),
      authUrl: url,
      resource,
      allowedHosts: [new URL(url).host],
      logger: silentLogger,
    });
    const stop = async () => {
      await issuer.stop();
      await audit.stop();
      await storage.stop();
      await rm(directory, { recursive: true, force: true });
    };
    return { pair, handler, stop };
  });

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = 0, high = low] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1);
  return (low + high) / 2;
};
const names = ['bare oidc-provider', 'sightline'] as const;

async function compare(): Promise<void> {
  const all = names.map((): Turn[] => []);
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [bare, own] = await Promise.all([contender(names[0]), contender(names[1])]);
    for (const each of [bare, own]) await each.load(requests.warming);
    const inRound: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const [theirs, ours] = [await bare.load(requests.turn), await own.load(requests.turn)];
      all[0]?.push(theirs);
      all[1]?.push(ours);
      inRound.push(theirs.cpu / ours.cpu);
    }
    await Promise.all([bare.stop(), own.stop()]);
    ratios.push(median(inRound));
    console.error(`round ${round + 1} of ${rounds}: ${ratios.at(-1)?.toFixed(2)}`);
  }
  for (const [index, name] of names.entries()) {
    const ofAll = (figure: keyof Turn) => median((all[index] ?? []).map((each) => each[figure]));
    console.log(`${name.padEnd(20)} ${ofAll('cpu').toFixed(0)} µs CPU  p50 ${ofAll('p50')} ms  p99 ${ofAll('p99')} ms`);
  }
  console.log(`\nSpeed beside bare oidc-provider, by processor time: ${median(ratios).toFixed(2)} (bar: at least 0.8)`);
  console.log(`Rounds: ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')}`);
}

if (process.argv[2] === 'serve') await (process.argv[3] === names[0] ? serveBare() : serveOurs());
else await compare();
