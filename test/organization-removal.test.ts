import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { callTool, countRows } from './support/call.ts';
import { eventually } from './contract/storage/stage.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type Credentials,
  type RunningGateway,
} from './support/gateway.ts';

const secret = 'zanzibar';
const ingestToken = z.looseObject({ token: z.string() });

describe('an organization that is deleted', () => {
  let gateway: RunningGateway;
  let directory = '';
  beforeEach(async () => {
    directory = await temporaryDirectory();
    gateway = await startGateway(directory);
  });
  afterEach(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  async function send(token: string, word = secret): Promise<number> {
    const log = { timeUnixNano: String(BigInt(Date.now()) * 1_000_000n), body: { stringValue: `${word} 1` } };
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: `${word}-api` } }] };
    const response = await fetch(`${gateway.url}/v1/logs`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [log] }] }] }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** With telemetry, a chat, an admin and a key; answers what gets into it. */
  async function fill(
    name: string,
  ): Promise<{ readonly key: Credentials; readonly token: string; readonly jwt: string }> {
    const key = await createKey(directory, name);
    await sightline(directory, [
      'user',
      'create',
      '--email',
      `admin@${name}.example`,
      '--org',
      name,
      '--role',
      'admin',
    ]);
    const { token } = await sightlineJson(directory, ['ingest', 'show', '--org', name], ingestToken);
    expect(await send(token, name)).toBe(200);
    const jwt = await exchange(gateway.url, key);
    await countRows(gateway.url, jwt, 'otel.logs', 1);
    const started = await callTool(gateway.url, jwt, 'start_chat', { message: `Why is ${name} slow?` });
    expect(started.isError).toBe(false);
    return { key, token, jwt };
  }

  const query = (jwt: string) => callTool(gateway.url, jwt, 'query_otel', { sql: 'SELECT count(*) FROM otel.logs' });

  it('is shut, comes back as it was, and in the end is found nowhere, while another goes on', async () => {
    const [gone, stays] = [await fill(secret), await fill('acme')];
    const refused = await sightline(directory, ['org', 'delete', secret]);
    expect(refused.stdout).toContain('Nothing was deleted: say --yes');
    expect((await sightline(directory, ['org', 'delete', secret, '--yes'])).stdout).toContain('is deleted');
    expect((await query(gone.jwt)).status).toBe(401);
    await expect(exchange(gateway.url, gone.key)).rejects.toThrow('401');
    expect(await send(gone.token)).toBe(401);
    expect((await query(stays.jwt)).isError).toBe(false);

    expect((await sightline(directory, ['org', 'restore', secret])).stdout).toContain('is back');
    expect((await query(gone.jwt)).isError).toBe(false);
    expect(await send(gone.token)).toBe(200);

    await sightline(directory, ['org', 'delete', secret, '--yes']);
    await gateway.stop();
    const id = timeIsOver(join(directory, 'sightline.sqlite'));
    gateway = await startGateway(directory);
    await eventually(async () => (await sightline(directory, ['org', 'list', '--deleted'])).stdout.includes('removed'));
    await eventually(async () => !existsSync(join(directory, 'telemetry', id)));
    expect((await query(await exchange(gateway.url, stays.key))).isError).toBe(false);
    expect(gateway.output()).not.toContain(`${secret}-api`);
    expect((await sightline(directory, ['user', 'list'])).stdout).not.toContain(secret);
    const verified = await sightline(directory, ['audit', 'verify', '--org', id]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('records') });
    const exported = join(directory, 'after.jsonl');
    await sightline(directory, ['export', exported]);
    expect(await readFile(exported, 'utf8')).not.toContain(secret);
    await gateway.stop();
    expect(await filesWith(directory, secret, id)).toEqual([]);
  }, 240_000);
});

/** The only deleted organization cannot be restored any more; its id. */
function timeIsOver(file: string): string {
  const database = new DatabaseSync(file);
  const [row] = database.prepare('UPDATE organizations SET purge_at = 1 WHERE purge_at IS NOT NULL RETURNING id').all();
  database.prepare("UPDATE locks SET taken = 0 WHERE name = 'retention'").run();
  database.close();
  return String(row?.['id']);
}

/** Files with the word in them, and folders called by the id. */
async function filesWith(directory: string, word: string, id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.name === id) found.push(path);
    if (entry.isFile() && (await readFile(path)).includes(word)) found.push(path);
  }
  return found;
}
