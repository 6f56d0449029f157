import { createClient } from '@clickhouse/client';
import { changedSettings } from '../../plugins/telemetry-clickhouse/client/settings.ts';
import { dialectOf } from '../../plugins/telemetry-clickhouse/dialect.ts';
import { ownTables } from '../../plugins/telemetry-clickhouse/setup/own-tables.ts';
import { restricted } from '../../plugins/telemetry-clickhouse/support/layered.ts';
import { ClickHouseServer } from '../../test/support/clickhouse/server.ts';
import { freePort } from '../../test/support/database-server.ts';
import { removeDirectory } from '../../test/support/gateway.ts';
import { inserts, type Words } from './spans.ts';
import type { Engine } from './stage.ts';
import { createWorkspace } from './tool.ts';

const spans = 'sightline.sightline_spans';
const mapping = { preset: undefined, tables: {}, empties: [] };
const { write } = dialectOf({ version: '', mapping, json: new Set() });

const words: Words = {
  divide: (number, by) => `intDiv(${number}, ${by})`,
  md5: (text) => `lower(hex(MD5(${text})))`,
  text: (value) => `toString(${value})`,
  map: (entries) =>
    `map(${Object.entries(entries)
      .flatMap(([key, value]) => [write.literal(key), value])
      .join(', ')})`,
  time: (micros) => `fromUnixTimestamp64Micro(toInt64(${micros}), 'UTC')`,
  numbers: (first, count) => `(SELECT number AS i FROM numbers(${first}, ${count})) AS numbers`,
};

/**
 * The real engine behind HTTP with tables as the set-up makes them, all parts merged. The embedded engine has one user: so the
 * gateway has a copy of it, with the access and row policies that the set-up prints, and the client one that knows no limits.
 */
export const clickhouse: Engine = {
  name: 'clickhouse',
  async start(data, stack, progress) {
    const server = await ClickHouseServer.start();
    stack.defer(() => server.stop());
    await server.runAll(ownTables({ database: 'sightline', prefix: 'sightline_' }));
    const telemetry = {
      plugin: 'clickhouse',
      mapping: { preset: 'sightline' },
      tenancy: { boundary: { mode: 'column', column: 'organization' }, value: 'id' },
      // Whoever asks is this organization to the policies, which to the probe is no boundary.
      isolation: 'degraded',
    };
    const port = await freePort();
    const workspace = await createWorkspace({ ...telemetry, url: `http://127.0.0.1:${port}` }, stack);
    const organization = write.literal(workspace.organization);
    // An end follows from what is stored.
    const others = { organization, start_time: undefined, end_time: undefined };
    let loaded = 0;
    for (const insert of inserts(words, data, { name: spans, others })) {
      await server.run(insert);
      loaded = Number(await server.run(`SELECT count() FROM ${spans}`));
      progress(loaded);
    }
    await server.run(`OPTIMIZE TABLE ${spans} FINAL`);
    const version = (await server.run('SELECT version()')).trim();

    const usersXml = await restricted(workspace.organization, server);
    const directory = await server.copy();
    stack.defer(() => removeDirectory(directory));
    const gated = await ClickHouseServer.start({ directory, port, usersXml, readonlyExcept: changedSettings });
    stack.defer(() => gated.stop());
    const tool = await workspace.open();
    const client = createClient({ url: server.url });
    stack.defer(() => client.close());
    return {
      title: `ClickHouse ${version} (chDB behind HTTP), beside @clickhouse/client`,
      words,
      write,
      own: {
        spans,
        conditions: [`organization = ${organization}`],
        async ask(sql) {
          const result = await client.query({ query: sql, format: 'JSONCompactEachRow' });
          return await result.json<unknown[]>();
        },
      },
      tool,
    };
  },
};
