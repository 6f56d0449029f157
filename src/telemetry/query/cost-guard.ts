import { createHash } from 'node:crypto';
import { SightlineError, type ErrorDetails, type Logger, type OrganizationId } from '../../contract/core/index.ts';
import type { ScanRepository } from '../../contract/storage/index.ts';
import type { StatementContext, Telemetry } from '../../contract/telemetry/index.ts';

export interface CostLimits {
  /** `shadow` only writes into the log what `enforce` would refuse. */
  readonly mode: 'off' | 'shadow' | 'enforce';
  /** Of one statement, as the warehouse estimates it. */
  readonly maxQueryBytes?: number | undefined;
  /** Of an organization, from midnight to midnight UTC. */
  readonly dailyBytes?: number | undefined;
}

export interface CostGuardParts {
  readonly telemetry: Pick<Telemetry, 'estimate'>;
  readonly scans: (organizationId: OrganizationId) => ScanRepository;
  readonly limits: CostLimits;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface GuardedStatement {
  readonly rendered: string;
  readonly context: StatementContext;
  readonly requestId: string | undefined;
  /** A call that reads this share of the window. */
  readonly narrower: (share: number) => ErrorDetails;
}

export interface CostGuard {
  /** Throws query_too_costly, scan_budget_exceeded, or why nothing could be estimated or counted. */
  admit(statement: GuardedStatement): Promise<Admission>;
}

export interface Admission {
  /** Counts what was read in truth, where the warehouse says; else the estimate stands. Never rejects. */
  settle(bytesScanned: number | undefined): Promise<void>;
}

/** Undefined where nothing is limited, or nothing that this warehouse can be held to. */
export function createCostGuard(parts: CostGuardParts): CostGuard | undefined {
  const { mode, maxQueryBytes, dailyBytes } = parts.limits;
  if (mode === 'off') return undefined;
  if (maxQueryBytes === undefined && dailyBytes === undefined) return undefined;
  if (parts.telemetry.estimate === undefined) {
    const why = 'this warehouse does not estimate what a query reads';
    if (maxQueryBytes !== undefined) parts.logger.warn({}, `costGuard.maxQueryBytes has no effect: ${why}`);
    if (dailyBytes === undefined) return undefined;
    parts.logger.warn({}, `costGuard.dailyBytes counts only what ended queries read, if that is told: ${why}`);
  }
  return new Guard(parts);
}

const keptMs = 60_000;
const mostKept = 1_000;
/** More than any statement reads: keeps a nonsensical count from spoiling the sum. */
const mostBytes = 1e15;

class Guard implements CostGuard {
  readonly #parts: CostGuardParts;
  readonly #estimates = new Map<string, { readonly bytes: number; readonly until: number }>();

  constructor(parts: CostGuardParts) {
    this.#parts = parts;
  }

  async admit(statement: GuardedStatement): Promise<Admission> {
    try {
      const estimate = await this.#estimate(statement);
      this.#checkStatement(estimate, statement);
      return await this.#reserve(estimate ?? 0, statement);
    } catch (error) {
      if (this.#parts.limits.mode === 'enforce' || statement.context.signal.aborted) throw error;
      this.#parts.logger.warn({ ...about(statement), error }, 'what a query costs could not be told');
      return uncounted;
    }
  }

  #refuse(refusal: SightlineError, statement: GuardedStatement): void {
    if (this.#parts.limits.mode === 'enforce') throw refusal;
    this.#parts.logger.warn({ ...about(statement), code: refusal.code }, `would refuse: ${refusal.message}`);
  }

  async #estimate({ rendered, context }: GuardedStatement): Promise<number | undefined> {
    const { telemetry, now } = this.#parts;
    if (telemetry.estimate === undefined) return undefined;
    const id = createHash('sha256').update(`${context.organizationId}\n${rendered}`).digest('base64');
    const time = now().getTime();
    const kept = this.#estimates.get(id);
    if (kept !== undefined && kept.until > time) return kept.bytes;
    const estimate = await telemetry.estimate(rendered, context);
    if (!(estimate.bytes >= 0)) throw new Error('an estimate that is no number of bytes');
    const bytes = wholeBytes(estimate.bytes);
    this.#estimates.delete(id);
    this.#estimates.set(id, { bytes, until: time + keptMs });
    for (const [oldest, { until }] of this.#estimates) {
      if (this.#estimates.size <= mostKept && until > time) break;
      this.#estimates.delete(oldest);
    }
    return bytes;
  }

  #checkStatement(estimate: number | undefined, statement: GuardedStatement): void {
    const { maxQueryBytes } = this.#parts.limits;
    if (maxQueryBytes === undefined || estimate === undefined || estimate <= maxQueryBytes) return;
    const refusal = new SightlineError(
      'query_too_costly',
      `The query would read about ${inWords(estimate)}, and may read ${inWords(maxQueryBytes)}.`,
      statement.narrower(maxQueryBytes / estimate),
    );
    this.#refuse(refusal, statement);
  }

  /** Counted before it runs, so that queries at the same time cannot all spend the same rest. */
  async #reserve(estimate: number, statement: GuardedStatement): Promise<Admission> {
    const { limits, scans, now, logger } = this.#parts;
    if (limits.dailyBytes === undefined) return uncounted;
    const moment = now();
    const day = moment.toISOString().slice(0, 10);
    const usage = scans(statement.context.organizationId);
    const total = await (estimate === 0 ? usage.total(day) : usage.add(day, estimate));
    const before = total - estimate;
    if (total > limits.dailyBytes || before >= limits.dailyBytes) {
      if (limits.mode === 'enforce' && estimate > 0) await usage.add(day, -estimate);
      this.#refuse(overBudget({ budget: limits.dailyBytes, before, estimate, now: moment }, statement), statement);
    }
    return {
      async settle(bytesScanned) {
        const more = bytesScanned === undefined ? 0 : wholeBytes(bytesScanned) - estimate;
        if (more === 0) return;
        try {
          await usage.add(day, more);
        } catch (error) {
          logger.warn({ ...about(statement), error }, 'what a query read could not be counted');
        }
      },
    };
  }
}

const uncounted: Admission = { settle: async () => {} };

function about({ context, requestId }: GuardedStatement): object {
  return { request_id: requestId, organizationId: context.organizationId };
}

interface Spending {
  readonly budget: number;
  /** Read before this statement. */
  readonly before: number;
  readonly estimate: number;
  readonly now: Date;
}

function overBudget({ budget, before, estimate, now }: Spending, { narrower }: GuardedStatement): SightlineError {
  const midnight = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1);
  const retryAfterSeconds = Math.ceil((midnight - now.getTime()) / 1000);
  const again = `the count begins anew at ${new Date(midnight).toISOString()}.`;
  if (before >= budget) {
    const message = `Today's queries have read the ${inWords(budget)} that they may read.`;
    return new SightlineError('scan_budget_exceeded', message, { hint: `Wait: ${again}`, retryAfterSeconds });
  }
  const message = `The query would read about ${inWords(estimate)}, and ${inWords(budget - before)} are left of the ${inWords(budget)} a day.`;
  const details = narrower((budget - before) / estimate);
  const hint = `${details.hint ?? ''} Or wait: ${again}`.trimStart();
  return new SightlineError('scan_budget_exceeded', message, { ...details, hint, retryAfterSeconds });
}

function wholeBytes(bytes: number): number {
  return bytes > 0 ? Math.min(Math.ceil(bytes), mostBytes) : 0;
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

function inWords(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit] ?? ''}`;
}
