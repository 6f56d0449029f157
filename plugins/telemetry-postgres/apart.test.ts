import { expect, it } from '@jest/globals';
import { telemetryHost } from '../../src/gateway/wiring/telemetry-host.ts';
import { noOrganizations, testHost } from '../../test/contract/host.ts';
import plugin from './index.ts';

const scripts = async (mapping: object, boundary: object, isolation: string) => {
  const config = plugin.configSchema.parse({
    url: 'postgres://gateway:p@127.0.0.1:1/none',
    boundary: { secret: 's'.repeat(32) },
    tenancy: { boundary, organizations: { acme: 'a', globex: 'g' } },
    mapping,
    isolation,
  });
  const telemetry = plugin.create(config, telemetryHost(testHost('/nonexistent'), noOrganizations));
  try {
    return await telemetry.operations?.setup(AbortSignal.timeout(10_000));
  } catch (error) {
    return error;
  } finally {
    await telemetry.stop();
  }
};

it.each([
  [
    { mode: 'schema', template: 'org_{tenant}' },
    { tables: { logs: { from: 'public.events', columns: { time: 't' } } } },
  ],
  [
    { mode: 'schema', template: 'org_{tenant}' },
    { preset: 'sightline', names: { schema: 'public' } },
  ],
  [
    { mode: 'table_template', template: '{tenant}_{table}' },
    { preset: 'sightline', names: { logs: 'logs' } },
  ],
])('refuses %j over a table that is the same for all: %j', async (boundary, mapping) => {
  for (const isolation of ['layered', 'degraded']) {
    expect(await scripts(mapping, boundary, isolation)).toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('the same for all organizations'),
    });
  }
});

it('writes the scripts where each has its own', async () => {
  const boundary = { mode: 'schema', template: 'org_{tenant}' };
  const tables = { logs: { from: 'org_{tenant}.events', columns: { time: 't' } } };
  expect(JSON.stringify(await scripts({ tables }, boundary, 'layered'))).toContain('org_g.events');
});
