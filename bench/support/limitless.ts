import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callTool } from '../../test/support/call.ts';
import { createKey, exchange, removeDirectory, startGateway, temporaryDirectory } from '../../test/support/gateway.ts';

export interface Limitless {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDirectory: string;
  /** One of a key of each organization. */
  readonly tokens: readonly string[];
  close(): Promise<void>;
}

/** A gateway whose requests a minute are not limited, with organizations of one key each. */
export async function startLimitless(organizations: readonly string[], telemetry: object = {}): Promise<Limitless> {
  const dataDirectory = await temporaryDirectory();
  const config = join(dataDirectory, 'sightline.config.json');
  await writeFile(config, JSON.stringify({ limits: { requestsPerMinute: 1_000_000_000 }, telemetry }));
  const gateway = await startGateway(dataDirectory, { args: ['--no-demo', '--config', config] });
  const close = async (): Promise<void> => {
    await gateway.stop();
    await removeDirectory(dataDirectory);
  };
  try {
    const tokens: string[] = [];
    for (const organization of organizations) {
      tokens.push(await exchange(gateway.url, await createKey(dataDirectory, organization)));
    }
    const { pid } = gateway.process;
    if (pid === undefined) throw new Error('the gateway has no process');
    return { url: gateway.url, port: Number(new URL(gateway.url).port), pid, dataDirectory, tokens, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Throws where a statement is refused: a refusal is answered with 200, and soon. */
export async function mustAnswer(url: string, token: string, sql: string): Promise<void> {
  const { isError, text } = await callTool(url, token, 'query_otel', { sql });
  if (isError) throw new Error(`${sql}: ${text}`);
}
