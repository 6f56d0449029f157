import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { batch } from '../plugins/telemetry-duckdb/support/harness.ts';
import type { Principal } from '../src/contract/issuer/index.ts';
import type { Workspace } from '../src/contract/storage/index.ts';
import { alert, Toolbox } from './support/tools.ts';

/** The six reads change nothing, which is seen on the stores themselves: every table of both is dumped before and after. */
let box: Toolbox;
let principal: Principal;
let workspace: Workspace;

beforeAll(async () => {
  box = await Toolbox.open();
  ({ principal, workspace } = await box.organization('acme'));
  const time = new Date();
  await box.telemetry.sink?.load(
    {
      organizationId: principal.organizationId,
      log: 'test',
      batches: [batch('spans', [{ time, start_time: time, end_time: time, name: 'GET /', service_name: 'web' }])],
      upTo: { segment: 1, offset: 1 },
    },
    AbortSignal.timeout(20_000),
  );
});

afterAll(async () => {
  await box.close();
});

/** Every row of every table, whatever tables there are. */
function dump(): Record<string, unknown[]> {
  const database = new DatabaseSync(join(box.directory, 'sightline.sqlite'), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    return Object.fromEntries(
      tables.map(({ name }) => [
        String(name),
        database.prepare(`SELECT * FROM "${String(name)}" ORDER BY rowid`).all(),
      ]),
    );
  } finally {
    database.close();
  }
}

async function telemetry(): Promise<unknown[]> {
  const counts = await Promise.all(
    ['spans', 'metrics', 'logs'].map((table) =>
      box.call(principal, 'query_otel', { sql: `SELECT count(*), max(time) FROM otel.${table}` }),
    ),
  );
  return counts.map(({ structured }) => structured['rows']);
}

describe('the six reads', () => {
  it('change nothing, called well or badly', async () => {
    const incident = await workspace.incidents.create(
      { title: 'x', severity: 'high', source: 'test', startedAt: new Date(), document: 'text' },
      alert,
    );
    const { structured } = await box.call(principal, 'start_chat', { message: 'why?', incident_id: incident.id });
    const chat_id = structured['chat_id'];
    const before = { storage: dump(), telemetry: await telemetry() };
    expect(before.storage).toMatchObject({ chats: [{}], chat_messages: [{}], incidents: [{}] });

    const reads: readonly (readonly [string, Record<string, unknown>])[] = [
      ['query_otel', { sql: 'SELECT service_name, count(*) AS n FROM otel.spans GROUP BY service_name' }],
      ['query_otel', { sql: 'DELETE FROM otel.spans' }],
      ['query_otel', { sql: 'SHOW TABLES' }],
      ['get_ingest_config', {}],
      ['list_incidents', { status: 'open', waiting_on: ['agent', 'human', 'external', 'none'] }],
      ['list_incidents', { cursor: 'wrong' }],
      ['read_incident', { incident_id: incident.key }],
      ['read_incident', { incident_id: 'INC-404' }],
      ['list_chats', { mine: true, incident_id: incident.id }],
      ['read_chat', { chat_id, wait_seconds: 0.2 }],
      ['read_chat', { chat_id: 'chat_x' }],
    ];
    const names = new Set(box.tools.filter((tool) => tool.annotations.readOnlyHint).map(({ name }) => name));
    expect(new Set(reads.map(([name]) => name))).toEqual(names);
    let failed = 0;
    for (const [name, args] of reads) {
      await box.call(principal, name, args).catch(() => {
        failed += 1;
      });
    }
    expect(failed).toBe(4);
    expect({ storage: dump(), telemetry: await telemetry() }).toEqual(before);
  });

  it('are told apart by the same dump from the two writes', async () => {
    const before = dump();
    await box.call(principal, 'start_chat', { message: 'again' });
    expect(dump()).not.toEqual(before);
  });
});
