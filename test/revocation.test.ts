import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { callTool } from './support/call.ts';
import {
  createKey,
  credentials,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

const sql = { sql: 'SELECT 1 AS one' };
const listed = z.array(z.object({ client_id: z.string(), last_used_at: z.string().nullable() }));

describe('a key changed on the command line while the gateway runs', () => {
  let gateway: RunningGateway;
  let directory = '';
  beforeAll(async () => {
    directory = await temporaryDirectory();
    gateway = await startGateway(directory);
  });
  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  it('has both secrets after a rotation, the newer one after a retirement, none after a revocation', async () => {
    const first = await createKey(directory, 'acme');
    const oldToken = await exchange(gateway.url, first);
    const second = await sightlineJson(directory, ['key', 'rotate', first.client_id], credentials);
    expect(second.client_id).toBe(first.client_id);
    expect(second.client_secret).not.toBe(first.client_secret);
    const newToken = await exchange(gateway.url, second);
    expect((await callTool(gateway.url, oldToken, 'query_otel', sql)).isError).toBe(false);
    expect((await callTool(gateway.url, newToken, 'query_otel', sql)).isError).toBe(false);

    expect((await sightline(directory, ['key', 'retire', first.client_id])).code).toBe(0);
    expect((await callTool(gateway.url, oldToken, 'query_otel', sql)).status).toBe(401);
    expect((await callTool(gateway.url, newToken, 'query_otel', sql)).isError).toBe(false);
    await expect(exchange(gateway.url, first)).rejects.toThrow('401');

    expect((await sightline(directory, ['key', 'revoke', first.client_id, '--json'])).code).toBe(0);
    expect((await callTool(gateway.url, newToken, 'query_otel', sql)).status).toBe(401);
    await expect(exchange(gateway.url, second)).rejects.toThrow('401');
  });

  it('shows in the list when it was last used', async () => {
    const key = await createKey(directory, 'acme');
    const lastUse = async () => {
      const keys = await sightlineJson(directory, ['key', 'list', '--org', 'acme'], listed);
      return keys.find(({ client_id }) => client_id === key.client_id)?.last_used_at;
    };
    expect(await lastUse()).toBeNull();
    await callTool(gateway.url, await exchange(gateway.url, key), 'query_otel', sql);
    let last = await lastUse();
    // The gateway writes such notes once a second.
    for (let attempt = 0; attempt < 50 && !last; attempt += 1) last = await lastUse();
    expect(Date.parse(last ?? '')).toBeLessThanOrEqual(Date.now());
  });

  it('can do only what its scopes say', async () => {
    const token = await exchange(gateway.url, await createKey(directory, 'acme', 'incidents:read'));
    expect((await callTool(gateway.url, token, 'list_incidents', {})).isError).toBe(false);
    for (const [tool, args] of [
      ['query_otel', sql],
      ['get_ingest_config', {}],
      ['list_chats', {}],
      ['start_chat', { message: 'hello' }],
    ] as const) {
      expect(await callTool(gateway.url, token, tool, args)).toMatchObject({ status: 403 });
    }
  });
});
