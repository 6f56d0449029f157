import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { engineMissing } from '../../test/support/clickhouse/engine.ts';
import { ClickHouseServer } from '../../test/support/clickhouse/server.ts';
import { createTelemetry } from './support/harness.ts';

const suite = engineMissing() === undefined ? describe : describe.skip;
const signal = AbortSignal.timeout(60_000);

suite("an operator's commands over HTTP", () => {
  let server: ClickHouseServer;
  beforeAll(async () => {
    server = await ClickHouseServer.start();
  }, 30_000);
  afterAll(async () => {
    await server?.stop();
  });

  it('set up an empty server for our receiver, so that the plugin starts and inspection finds its tables', async () => {
    const telemetry = createTelemetry(server.url);
    const scripts = (await telemetry.operations?.setup(signal)) ?? [];
    expect(scripts.map(({ title }) => title)).toEqual([
      expect.stringContaining('Tables'),
      expect.stringContaining('writes'),
      expect.stringContaining('reads'),
      expect.stringContaining('Row policies'),
    ]);
    expect(scripts.map(({ sql }) => sql).join('')).toContain(
      'GRANT SELECT ON `sightline`.`sightline_spans` TO `default`',
    );
    await server.runAll(statements(scripts[0]?.sql ?? ''));
    await telemetry.start(signal);
    expect(await telemetry.health(signal)).toMatchObject({ ok: true });
    const inspection = await telemetry.operations?.inspect(signal);
    expect(inspection?.candidates[0]).toMatchObject({
      preset: 'sightline',
      mapping: { preset: 'sightline' },
      found: { spans: '`sightline`.`sightline_spans`' },
    });
    await telemetry.stop();
  });

  it('probe as the account of the config, and name what it may do', async () => {
    await server.run("INSERT INTO sightline.sightline_logs (organization, time, body) VALUES ('acme', now64(9), 'x')");
    const telemetry = createTelemetry(server.url, { isolation: 'layered' });
    const findings = (await telemetry.operations?.probe(signal)) ?? [];
    const failed = findings.filter(({ status }) => status === 'fail').map(({ check }) => check);
    expect(failed).toEqual(
      expect.arrayContaining(['other organizations', 'write access', 'read-only', 'files and network']),
    );
    for (const { hint } of findings.filter(({ status }) => status !== 'ok')) expect(hint ?? '').not.toBe('');
    expect(await server.run('SELECT count() FROM sightline.sightline_logs')).toBe('1\n');
    await telemetry.stop();
  });

  it('say which key is missing where each organization needs a role of its own', async () => {
    const telemetry = createTelemetry(server.url, { serverBoundary: { by: 'role', role: 'org_{tenant}' } });
    await expect(telemetry.operations?.setup(signal)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('telemetry.tenancy.organizations'),
    });
    await telemetry.stop();
  });

  it('fail with a clear error where nothing answers', async () => {
    const telemetry = createTelemetry('http://127.0.0.1:1');
    await expect(telemetry.operations?.probe(signal)).rejects.toMatchObject({ code: 'telemetry_unavailable' });
    await telemetry.stop();
  });
});

function statements(sql: string): readonly string[] {
  return sql.split(';\n').filter((statement) => statement.trim() !== '');
}
