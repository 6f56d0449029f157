import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDirectory, startOne, temporaryDirectory } from '../../test/support/gateway.ts';
import { makeTenants, mint, type Tenant } from '../support/tenants.ts';

export interface Stage {
  readonly url: string;
  readonly pid: number;
  readonly dataDirectory: string;
  readonly tenants: readonly Tenant[];
  close(): Promise<void>;
}

const openEngines = 16;

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
