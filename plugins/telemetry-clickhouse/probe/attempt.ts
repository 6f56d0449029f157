import { SightlineError } from '../../../src/contract/core/index.ts';
import { engineError, EngineError } from '../client/failures.ts';
import type { Finding, Tenancy, Tenant } from '../../../src/contract/telemetry/index.ts';
import type { ServerBoundary } from '../setup/access.ts';
import type { Row } from '../quote.ts';
import type { PhysicalTable } from '../setup/physical-tables.ts';

export interface ProbeOptions {
  readonly send: Send;
  /** The user that the set-up makes, whose rights alone remedies take away. */
  readonly own: string;
  readonly boundary: Tenancy['boundary'];
  readonly server: ServerBoundary;
  readonly isolation: 'layered' | 'degraded';
  readonly json: ReadonlySet<string>;
  /** Those that are known, two at least where there are two. */
  readonly tenants: readonly Tenant[];
  /** Of a mapping whose `{tenant}` is this one's; the same for all where tenants share tables. */
  tables(tenant: Tenant | undefined): Promise<readonly PhysicalTable[]>;
}

const most = 4;
const properUser = 'give the gateway the user of sightline telemetry setup --print.';

/** The user that the probe logs in as. */
export interface Login {
  /** As SQL names it. */
  readonly user: string;
  readonly isOwn: boolean;
}

/** Statements that take rights from the gateway's own user. Where they are many, another user is less work. */
export function revoking(statements: readonly string[], { user, isOwn }: Login): string {
  if (!isOwn) return `Take nothing from ${user}, which others may use: ${properUser}`;
  const all = [...new Set(statements)];
  if (all.length <= most) return all.join(' ');
  return `${all.slice(0, most).join(' ')} These are ${most} of ${all.length}: rather ${properUser}`;
}

/** What was tried without a clear answer. Nothing is served over it, unless the config accepts a single layer. */
export function unproven({ isolation }: Pick<ProbeOptions, 'isolation'>, check: string, detail: string): Finding {
  return {
    check,
    status: isolation === 'degraded' ? 'warn' : 'fail',
    detail,
    hint: `Run sightline doctor again; if it says the same, ${properUser}`,
  };
}

/** The organization's identity at the server. */
export interface Sender {
  readonly queryId?: string;
  readonly role?: string;
}

/** Sends one statement as the gateway's user; rejects with the engine's error, or with ours whose cause it is. */
export type Send = (sql: string, sender: Sender) => Promise<readonly Row[]>;

export type Outcome =
  | { readonly kind: 'done'; readonly rows: readonly Row[] }
  | { readonly kind: 'refused' }
  /** Not refused, but failed for another reason: other arguments may succeed. */
  | { readonly kind: 'tried'; readonly code: number };

const accessDenied = 497;
const readonly = 164;
const prohibited = 392;
const refusals: ReadonlySet<number> = new Set([accessDenied, readonly, prohibited]);
/** The server lacks the feature, so it is no way out. */
const absent: ReadonlySet<number> = new Set([
  46, // UNKNOWN_FUNCTION
  344, // SUPPORT_IS_DISABLED
]);

const noTable = 60;
const noSyntax = 62;

/** Rejects only where the warehouse could not be asked. */
export async function attempt(send: Send, sql: string, sender: Sender = {}): Promise<Outcome> {
  try {
    return { kind: 'done', rows: await send(sql, sender) };
  } catch (error) {
    const code = engineCode(error);
    if (code === undefined) throw error;
    return refusals.has(code) || absent.has(code) ? { kind: 'refused' } : { kind: 'tried', code };
  }
}

/** ClickHouse's number of an error; undefined where it is none of ClickHouse's. */
export function engineCode(error: unknown): number | undefined {
  if (error instanceof SightlineError) return engineCode(error.cause);
  if (error instanceof EngineError) return error.code;
  if (!(error instanceof Error)) return undefined;
  return engineError(error.message)?.code ?? engineCode(error.cause);
}

export function isUnknownTable(outcome: Outcome): boolean {
  return outcome.kind === 'tried' && outcome.code === noTable;
}

export function isUnknownSyntax(outcome: Outcome): boolean {
  return outcome.kind === 'tried' && outcome.code === noSyntax;
}
