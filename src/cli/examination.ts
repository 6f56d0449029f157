import { statfs } from 'node:fs/promises';
import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { activityFinding, crowdingFinding } from '../gateway/wiring/ingest-activity.ts';
import { tryBoundary } from '../gateway/wiring/boundary.ts';
import { openWarehouse, startWarehouse } from '../gateway/wiring/warehouse.ts';
import { checkConfig } from '../gateway/wiring/config.ts';
import { requireAccess } from '../gateway/wiring/data-directory.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import { openWorkspace, type OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { invocation } from './command.ts';
import { attempt, examineOutside, failed, inTime, type Verdict } from './examine-outside.ts';
import type { Finding, ValueNote } from '../contract/telemetry/index.ts';

const gibibyte = 1024 ** 3;

/** After so long a check has failed, whatever becomes of it: some plugins are not ours, and not every one heeds a signal. */
const deadlines = { check: 30_000, storage: 600_000, warehouse: 200_000 };

/** Looks at everything a gateway needs. Changes nothing but this: an existing storage is brought up to date by opening it. */
export async function examine(settings: Settings, deadlinesMs = deadlines): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const look = async (
    check: string,
    finding: () => Verdict | Promise<Verdict>,
    deadlineMs = deadlinesMs.check,
  ): Promise<void> => {
    findings.push({ check, ...(await attempt(finding, deadlineMs)) });
  };
  await look('Node.js', () => ({ status: 'ok', detail: process.versions.node }));
  const loaded = await inTime(checkConfig(settings), deadlinesMs.check).catch((error: unknown) => error);
  if (!isLoaded(loaded)) return [...findings, { check: 'configuration', ...failed(loaded) }];
  const { file, config } = loaded;
  findings.push({ check: 'configuration', status: 'ok', detail: file ?? 'no file, the defaults' });
  const { dataDirectory, listen } = config;
  try {
    requireAccess(dataDirectory);
  } catch (error) {
    // All that follows would fail of the same.
    return [...findings, { check: 'data directory', ...failed(error) }];
  }
  await look('data directory', () => directory(dataDirectory));
  const exists = statSync(dataDirectory, { throwIfNoEntry: false }) !== undefined;
  await look('master key', () => masterKey(dataDirectory, exists));
  await look('disk space', () => diskSpace(exists ? dataDirectory : '.'));
  if (!exists) {
    await look('telemetry', () => untried(config.telemetry.plugin));
    await look('port', () => portIsFree(listen.host, listen.port));
    return findings;
  }
  let workspace: OpenWorkspace | undefined;
  await look(
    'storage',
    async () => {
      workspace = await openWorkspace(settings);
      const count = (await workspace.storage.directory.organizations()).length;
      const migrated = workspace.migrations.applied.length > 0 ? ', just migrated' : '';
      return {
        status: 'ok',
        detail: `version ${workspace.migrations.version}${migrated}, ${count} organization${count === 1 ? '' : 's'}`,
      };
    },
    deadlinesMs.storage,
  );
  if (workspace === undefined) return findings;
  try {
    findings.push(...(await warehouse(workspace, deadlinesMs.warehouse)));
    const opened = workspace;
    findings.push(...(await examineOutside(opened, deadlinesMs.check)));
    const gateway = await inTime(workspace.runningGateway(), deadlinesMs.check).catch(() => undefined);
    if (gateway === undefined) {
      findings.push({
        check: 'gateway',
        status: 'warn',
        detail: 'not running',
        hint: `Start it with: ${invocation(settings)} serve`,
      });
      await look('port', () => portIsFree(listen.host, listen.port));
    } else {
      findings.push({ check: 'gateway', status: 'ok', detail: `process ${gateway.pid} at ${gateway.url}` });
      await look('components', () => components(gateway.url));
      if (config.ingest.enabled) {
        await look('ingest', () => activityFinding(dataDirectory));
        const atOnce = await inTime(enginesAtOnce(opened), deadlinesMs.check).catch(() => undefined);
        if (atOnce !== undefined) await look('engines', () => crowdingFinding(dataDirectory, atOnce));
      }
    }
  } finally {
    // What does not close ends with the process.
    await inTime(workspace.close(), deadlinesMs.check).catch(() => {});
  }
  return findings;
}

function isLoaded(value: unknown): value is Awaited<ReturnType<typeof checkConfig>> {
  return typeof value === 'object' && value !== null && 'config' in value && !(value instanceof Error);
}

function directory(path: string): Verdict {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const trouble = cannotBeMade(path);
    return trouble === undefined ? notYet(path) : { status: 'fail', detail: `${path} cannot be made: ${trouble.why}` };
  }
  if (!found.isDirectory()) {
    return { status: 'fail', detail: `${path} is not a directory`, hint: 'Name another one with --data.' };
  }
  return privacy(path, found.mode, 0o700);
}

/** Of Linux: file systems of the kernel, in which nobody makes a directory. */
const kernelFileSystems = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
]);

interface Obstacle {
  readonly why: string;
  /** For everyone, and not only for the user of this command. */
  readonly certain: boolean;
}

/** Why a directory that is not there yet cannot be made; nothing is made to find out. */
export function cannotBeMade(path: string): Obstacle | undefined {
  let at = path;
  try {
    let found = statSync(at, { throwIfNoEntry: false });
    while (found === undefined) {
      at = dirname(at);
      found = statSync(at, { throwIfNoEntry: false });
    }
    if (!found.isDirectory()) return { why: `${at} is no directory`, certain: true };
    if (at === path) return undefined;
    const kernels = process.platform === 'linux' ? kernelFileSystems.get(statfsSync(at).type) : undefined;
    if (kernels !== undefined) return { why: `${at} belongs to the kernel (${kernels})`, certain: true };
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return { why: `this user may not write to ${at}`, certain: false };
  }
}

function masterKey(dataDirectory: string, exists: boolean): Verdict {
  if (process.env['SIGHTLINE_MASTER_KEY']?.trim()) return { status: 'ok', detail: 'from SIGHTLINE_MASTER_KEY' };
  const path = join(dataDirectory, 'master.key');
  const found = exists ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (found === undefined) return notYet(path);
  return privacy(path, found.mode, 0o600);
}

function notYet(path: string): Verdict {
  return { status: 'warn', detail: `${path} does not exist yet`, hint: 'The first start makes it.' };
}

/** Windows has no such modes. */
function privacy(path: string, mode: number, wanted: number): Verdict {
  if (process.platform === 'win32' || (mode & 0o077) === 0) return { status: 'ok', detail: path };
  const octal = (mode & 0o777).toString(8).padStart(4, '0');
  return {
    status: 'fail',
    detail: `${path} can be read by others (mode ${octal})`,
    hint: `chmod ${wanted.toString(8)} ${path}`,
  };
}

async function diskSpace(path: string): Promise<Verdict> {
  const { bavail, bsize } = await statfs(path);
  const free = (bavail * bsize) / gibibyte;
  const detail = `${free.toFixed(1)} GiB free`;
  if (free >= 2) return { status: 'ok', detail };
  return {
    status: free < 0.2 ? 'fail' : 'warn',
    detail,
    hint: 'Telemetry needs room: free some, or keep it for fewer days.',
  };
}

function portIsFree(host: string, port: number): Promise<Verdict> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      const hint = 'Choose another with --port, or stop what uses it.';
      resolve({ status: 'fail', detail: `${host}:${port} cannot be listened on`, hint });
    });
    server.listen(port, host, () => server.close(() => resolve({ status: 'ok', detail: `${host}:${port} is free` })));
  });
}

/** Which organization is which tenant is in the storage, which is not there yet. */
function untried(plugin: string): Verdict {
  if (plugin === 'duckdb') return { status: 'ok', detail: 'embedded' };
  return {
    status: 'warn',
    detail: `${plugin} was not tried yet`,
    hint: 'Run sightline migrate first, then this again.',
  };
}

/** A warehouse that is not ours is tried as an intruder would; the embedded one has nothing to try. */
async function warehouse(workspace: OpenWorkspace, deadlineMs: number): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const opened = await attempt(async () => {
    const { label, telemetry } = await openWarehouse(workspace);
    if (telemetry.operations === undefined) return { status: 'ok', detail: label };
    try {
      await startWarehouse(workspace, telemetry);
      findings.push(...(await tryBoundary(telemetry, 60_000)));
      findings.push(
        ...valueFindings(await telemetry.operations.look?.(AbortSignal.timeout(60_000)).catch(() => undefined)),
      );
      const { ok, detail = label } = await telemetry.health(AbortSignal.timeout(10_000));
      return { status: ok ? 'ok' : 'fail', detail };
    } finally {
      await telemetry.stop();
    }
  }, deadlineMs);
  return [{ check: 'telemetry', ...opened }, ...findings];
}

/** Without these, most questions get wrong answers. */
const essential = /\.(body|name|service_name|span_id|duration_nano)$|spans\.trace_id$/;

/** What the values of the mapped columns say of the mapping. */
function valueFindings(notes: readonly ValueNote[] | undefined): readonly Finding[] {
  const check = 'mapped values';
  const wrong = notes?.filter(({ empty, what }) =>
    empty === true ? essential.test(what) : what.split('.').length > 2,
  );
  if (notes === undefined || wrong === undefined) return [];
  if (wrong.length === 0) return [{ check, status: 'ok', detail: 'What was looked at is as callers expect it.' }];
  return wrong.map(({ what, found, mend }) => {
    const [, table = '', column = ''] = what.split('.');
    const hint = mend === undefined ? 'Map it by hand: docs/warehouses.md.' : `${column}: ${mend}`;
    const where = `telemetry.mapping.tables.${table}.columns`;
    return {
      check,
      status: 'warn',
      detail: `${what}: ${found}.`,
      hint: mend === undefined ? hint : `Under ${where}: ${hint}`,
    };
  });
}

async function enginesAtOnce(workspace: OpenWorkspace): Promise<number | undefined> {
  const { telemetry } = await openWarehouse(workspace);
  const atOnce = telemetry.sink?.atOnce;
  await telemetry.stop();
  return atOnce;
}

const readiness = z.object({ status: z.string(), components: z.record(z.string(), z.string()).default({}) });

/** What the running gateway says about its parts, the telemetry engine among them. */
async function components(url: string): Promise<Verdict> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) });
  const { status, components: parts } = readiness.parse(await response.json());
  const unwell = Object.entries(parts).filter(([, state]) => state !== 'ok');
  if (response.ok && unwell.length === 0) return { status: 'ok', detail: Object.keys(parts).join(', ') || status };
  const detail = unwell.map(([name, state]) => `${name} is ${state}`).join(', ') || status;
  return { status: response.ok ? 'warn' : 'fail', detail, hint: 'The log says why.' };
}
