import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { toolNames } from '../src/contract/core/index.ts';
import { clientKinds, expectedVersion, listAndCallAll, type ToolCallRequest } from './support/clients.ts';
import { countRows } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

describe('official clients on a real gateway', () => {
  let gateway: RunningGateway;
  let token = '';
  let directory = '';
  let chat = '';

  beforeAll(async () => {
    directory = await temporaryDirectory();
    gateway = await startGateway(directory);
    const key = await createKey(directory, 'acme');
    token = await exchange(gateway.url, key);
    const demo = await sightline(directory, ['demo', '--minutes', '5', '--seed', '7', '--org', 'acme']);
    expect(demo).toMatchObject({ code: 0 });
    await countRows(gateway.url, token, 'otel.spans', 101);
    const [started] = (
      await listAndCallAll('sdk-v2-pinned', {
        url: `${gateway.url}/mcp`,
        token,
        calls: [{ name: 'start_chat', arguments: { message: 'Is anything wrong?' } }],
      })
    ).outcomes;
    chat = z.object({ chat_id: z.string() }).parse(started?.structured).chat_id;
  });

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  it.each(clientKinds)('%s lists and calls all eight tools', async (kind) => {
    const calls: ToolCallRequest[] = [
      { name: 'query_otel', arguments: { sql: 'SELECT count(*) AS n FROM otel.spans' } },
      { name: 'get_ingest_config', arguments: {} },
      { name: 'list_incidents', arguments: { status: 'open' } },
      { name: 'read_incident', arguments: { incident_id: 'INC-1' } },
      { name: 'list_chats', arguments: { mine: true } },
      { name: 'read_chat', arguments: { chat_id: chat } },
      { name: 'start_chat', arguments: { message: `Why is checkout slow? (${kind})` } },
      { name: 'send_chat_reply', arguments: { chat_id: chat, message: 'only payment' } },
    ];
    const run = await listAndCallAll(kind, { url: `${gateway.url}/mcp`, token, calls });
    expect(run.protocolVersion).toBe(expectedVersion(kind));
    expect(run.tools).toEqual(toolNames);
    expect(run.outcomes.map(({ name, isError }) => ({ name, isError }))).toEqual(
      toolNames.map((name) => ({ name, isError: false })),
    );
    const count = z.object({ rows: z.array(z.tuple([z.string()])) }).parse(run.outcomes[0]?.structured);
    expect(Number(count.rows[0]?.[0])).toBeGreaterThan(100);
    expect(run.outcomes[3]?.structured).toMatchObject({ incident: { key: 'INC-1' } });
    expect(run.outcomes[5]?.structured).toMatchObject({ chat: { id: chat } });
  });
});
