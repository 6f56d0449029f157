import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openWorkspace } from '../../src/app/index.ts';
import { scopes } from '../../src/contract/index.ts';
import { removeDirectory, startOne, temporaryDirectory } from '../../test/support/gateway.ts';
import type { Credentials } from '../../test/support/gateway.ts';
import { exchange } from '../chaos/client.ts';

export interface Tenant {
  readonly key: Credentials;
  readonly ingestToken: string;
  /** Access tokens, each another one. */
  readonly tokens: string[];
}

export interface Stage {
  readonly url: string;
  readonly pid: number;
  readonly dataDirectory: string;
  readonly tenants: readonly Tenant[];
  close(): Promise<void>;
}

const openEngines = 16;
const mintedAtOnce = 8;

/** One gateway on the embedded engine, with so many organizations, and tokens for them that are all different. */
export async function setStage(organizations: number, tokens: number): Promise<Stage> {
  const dataDirectory = await temporaryDirectory();
  const config = join(dataDirectory, 'sightline.config.json');
  await writeFile(
    config,
    JSON.stringify({
      limits: { requestsPerMinute: 1_000_000 },
      telemetry: { plugin: 'duckdb', openEngines, idleSeconds: 5, memoryLimitMb: 256, threads: 1 },
    }),
  );
  const tenants = await makeTenants({ data: dataDirectory, config }, organizations);
  const gateway = await startOne(dataDirectory, { args: ['--no-demo', '--config', config], workers: 1 });
  const { pid } = gateway.process;
  if (pid === undefined) throw new Error('the gateway has no process');
  const close = async (): Promise<void> => {
    await gateway.stop();
    await removeDirectory(dataDirectory);
  };
  try {
    await mint(gateway.url, tenants, tokens);
  } catch (error) {
    await close();
    throw error;
  }
  return { url: gateway.url, pid, dataDirectory, tenants, close };
}

/** In one process, before the gateway starts: a command for each would take an hour. */
async function makeTenants(settings: { readonly data: string; readonly config: string }, count: number) {
  const workspace = await openWorkspace(settings);
  const tenants: Tenant[] = [];
  try {
    for (let number = 0; number < count; number += 1) {
      const { id } = await workspace.organizations.create(`soak-${number}`);
      const made = await workspace.keys.create({
        organizationId: id,
        name: 'soak',
        scopes,
        actor: { kind: 'operator', id: 'soak', name: 'soak' },
      });
      const ingestToken = await workspace.ingestTokens.ensure(id);
      tenants.push({ key: { client_id: made.clientId, client_secret: made.clientSecret }, ingestToken, tokens: [] });
    }
    return tenants;
  } finally {
    await workspace.close();
  }
}

async function mint(url: string, tenants: readonly Tenant[], count: number): Promise<void> {
  let next = 0;
  const line = async (): Promise<void> => {
    while (next < count) {
      const tenant = tenants[next % tenants.length];
      next += 1;
      if (tenant === undefined) throw new Error('there is no organization');
      const { token, status, body } = await exchange(url, tenant.key);
      if (token === undefined) throw new Error(`no token was given out: ${status} ${body}`);
      tenant.tokens.push(token);
    }
  };
  await Promise.all(Array.from({ length: mintedAtOnce }, line));
}
