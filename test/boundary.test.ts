import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { examine } from '../src/cli/examination.ts';
import { removeDirectory, root, sightline, startGateway, temporaryDirectory } from './support/gateway.ts';

const plugin = join(root, 'test/support/probed-warehouse.ts');
let directory = '';
let config: readonly string[] = [];

const configure = async (finds: 'ok' | 'warn' | 'fail' | 'no end') => {
  const file = join(directory, 'sightline.config.json');
  await writeFile(file, JSON.stringify({ telemetry: { plugin, finds } }));
  config = ['--config', file];
};

beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

describe('a warehouse whose boundary does not hold', () => {
  it('stops the boot with what was found and what to do', async () => {
    await configure('fail');
    const { code, stderr } = await sightline(directory, ['serve', '--no-demo', '--port', '0', ...config]);
    expect(code).not.toBe(0);
    expect(stderr).toContain('other rows: A raw SELECT saw 3 rows of another tenant. REVOKE it.');
    expect(stderr).toContain('sightline telemetry setup --print');
    expect(stderr).not.toContain('    at ');
  });

  it('fails the doctor', async () => {
    await configure('fail');
    await sightline(directory, ['org', 'create', 'acme', ...config]);
    const { code, stdout } = await sightline(directory, ['doctor', '--json', ...config]);
    expect(code).toBe(1);
    const { checks } = JSON.parse(stdout);
    expect(checks).toContainEqual({
      check: 'other rows',
      status: 'fail',
      detail: 'A raw SELECT saw 3 rows of another tenant.',
      hint: 'REVOKE it.',
    });
  });

  it('cannot keep the doctor from its end', async () => {
    await configure('ok');
    await sightline(directory, ['org', 'create', 'acme', ...config]);
    await configure('no end');
    const settings = { data: directory, config: config[1], port: undefined };
    const checks = await examine(settings, { check: 20_000, storage: 60_000, warehouse: 300 });
    expect(checks).toContainEqual({
      check: 'telemetry',
      status: 'fail',
      detail: 'It did not end within 0.3 s.',
      hint: expect.stringContaining('again'),
    });
    expect(checks.map(({ check }) => check)).toEqual(expect.arrayContaining(['storage', 'agent', 'gateway', 'port']));
  });

  it('is served when its operator has accepted that, with a warning by name', async () => {
    await configure('warn');
    const gateway = await startGateway(directory, { args: ['--no-demo', ...config] });
    await gateway.stop();
    expect(gateway.output()).toContain('A raw SELECT saw 3 rows of another tenant.');
  });

  it('is no matter where it holds', async () => {
    await configure('ok');
    const gateway = await startGateway(directory, { args: ['--no-demo', ...config] });
    await gateway.stop();
    expect(gateway.output()).not.toContain('another tenant');
  });
});

describe('sightline telemetry', () => {
  it('prints what a database administrator runs, as SQL', async () => {
    await configure('ok');
    const listed = await sightline(directory, ['telemetry', 'setup', ...config]);
    expect(listed.stdout).toBe(
      '1. Make the role, as the owner\n\nPrint them with: sightline telemetry setup --print\n',
    );
    const printed = await sightline(directory, ['telemetry', 'setup', '--print', ...config]);
    expect(printed.stdout).toBe('-- Make the role, as the owner\nCREATE ROLE sightline;\n\n');
    const hardening = await sightline(directory, ['telemetry', 'setup', '--print', '--harden', ...config]);
    expect(hardening.stdout).toMatch(/^-- Nothing to harden: .*\.\n$/);
  });

  it('names the mapping that fits, ready for the config file', async () => {
    await configure('ok');
    const { stdout } = await sightline(directory, ['telemetry', 'inspect', ...config]);
    expect(stdout).toContain("otel-collector  The Collector's tables");
    expect(stdout).toContain('otel.metrics  missing: a query of it is refused');
    expect(stdout).toContain(
      '  mapping:\n    preset: otel-collector\n    names:\n      spans: otel_traces\n      database: "on"',
    );
    expect(stdout).toContain('signoz  SigNoz');
    const json = await sightline(directory, ['telemetry', 'inspect', '--json', ...config]);
    expect(JSON.parse(json.stdout)).toMatchObject({ server: 'Warehouse 1.2', candidates: [{}, {}] });
  });

  it('has nothing to do for the embedded engine', async () => {
    const { code, stderr } = await sightline(directory, ['telemetry', 'setup']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('keeps telemetry by itself');
  });
});
