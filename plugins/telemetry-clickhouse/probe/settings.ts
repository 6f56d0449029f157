import { changedParts, judged, type Finding } from '../../../src/contract/telemetry/index.ts';
import { textOf } from '../quote.ts';
import { unproven, attempt, revoking, type Login, type Outcome, type Send, type ProbeOptions } from './attempt.ts';
import { access } from '../setup/access.ts';

/** The first versions in which a SETTINGS clause within a query obeys the profile. */
const clamped: readonly (readonly [line: string, version: readonly number[]])[] = [
  ['26.3', [26, 3, 27, 4]],
  ['26.4', [26, 6, 4, 51]],
  ['26.5', [26, 6, 4, 51]],
  ['26.6', [26, 6, 4, 51]],
  ['26.7', [26, 7, 6, 49]],
  ['26.8', [26, 8, 2, 2]],
];

type Options = Pick<ProbeOptions, 'send' | 'isolation'>;

export async function settingFindings(options: Options, login: Login): Promise<readonly Finding[]> {
  const { send } = options;
  const mode = await number(send, "SELECT getSetting('readonly') AS value");
  const top = await attempt(send, 'SELECT 1 SETTINGS readonly = 0');
  return [
    judged('read-only', mode === 1 && top.kind === 'refused', {
      ok: 'The profile is readonly = 1 and a statement cannot change it.',
      detail: `The profile has readonly = ${mode ?? 'unknown'}${top.kind === 'refused' ? '' : ', and a statement may change settings'}.`,
      hint: login.isOwn
        ? `ALTER USER ${login.user} SETTINGS PROFILE '<profile>'; with the profile of sightline telemetry setup --print: it has readonly = 1.`
        : revoking([], login),
    }),
    await nestedSettings(options),
    await limits(send),
  ];
}

const said: Readonly<Record<string, string>> = {
  tables: 'the tables that are read',
  policies: 'what tells organizations apart',
  roles: 'the organizations with roles of their own',
};

/** Whether what the set-up made is for the configuration of today. Nothing is said where it left no mark. */
export async function setupFindings(options: ProbeOptions): Promise<readonly Finding[]> {
  const { server, boundary, tenants } = options;
  // No set-up can be printed for nobody.
  if (tenants.length === 0 && (server.by === 'role' || 'template' in boundary)) return [];
  const outcome = await attempt(options.send, "SELECT getSetting('log_comment') AS value");
  const kept = outcome.kind === 'done' ? textOf(outcome.rows[0]?.['value']) : '';
  const limits = { executionSeconds: 0, memoryBytes: 0 };
  const changed = changedParts(kept, (await access({ ...options, username: '', limits })).fingerprint);
  if (changed === undefined) return [];
  return [
    judged('set-up', changed.length === 0, {
      ok: 'What the set-up made is for this configuration.',
      status: options.isolation === 'degraded' ? 'warn' : 'fail',
      detail: `The set-up was printed for another configuration: ${changed.map((part) => said[part] ?? part).join(', ')} changed since.`,
      hint: 'Print it again and run it: sightline telemetry setup --print.',
    }),
  ];
}

async function nestedSettings(options: Options): Promise<Finding> {
  const { send } = options;
  const check = 'nested settings';
  const nested = await attempt(
    send,
    "SELECT value FROM (SELECT getSetting('readonly') AS value SETTINGS readonly = 0)",
  );
  const inner = valueOf(nested);
  if (nested.kind === 'refused' || (inner !== undefined && inner !== 0)) {
    return { check, status: 'ok', detail: 'A SETTINGS clause within a query obeys the profile.' };
  }
  if (inner === undefined) {
    return unproven(options, check, 'Whether a SETTINGS clause within a query obeys the profile could not be tried.');
  }
  const outcome = await attempt(send, 'SELECT version() AS version');
  const version = outcome.kind === 'done' ? textOf(outcome.rows[0]?.['version']) : '';
  const line = clamped.find(([prefix]) => version.startsWith(`${prefix}.`)) ?? clamped.at(-1);
  return {
    check,
    status: 'warn',
    detail: `ClickHouse ${version} lets a SETTINGS clause within a query override the profile: row policies keyed on a setting are no boundary here. Ours are not, and the gate refuses such clauses.`,
    hint: `Update to ${line?.[1].join('.') ?? 'a current version'} or later.`,
  };
}

async function limits(send: Send): Promise<Finding> {
  const seconds = await number(send, "SELECT toUInt64(getSetting('max_execution_time')) AS value");
  const bytes = await number(send, "SELECT getSetting('max_memory_usage') AS value");
  // What the server does not say is no bound.
  const missing = [
    ...((seconds ?? 0) === 0 ? ['max_execution_time'] : []),
    ...((bytes ?? 0) === 0 ? ['max_memory_usage'] : []),
  ];
  return judged('limits', missing.length === 0, {
    ok: 'The profile bounds the time and memory of a query.',
    status: 'warn',
    detail: `The profile has no ${missing.join(' and no ')}: a query is bounded by what the gateway sends alone.`,
    hint: 'Take the profile of sightline telemetry setup --print.',
  });
}

async function number(send: Send, sql: string): Promise<number | undefined> {
  return valueOf(await attempt(send, sql));
}

function valueOf(outcome: Outcome): number | undefined {
  const value = outcome.kind === 'done' ? outcome.rows[0]?.['value'] : undefined;
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : undefined;
}
