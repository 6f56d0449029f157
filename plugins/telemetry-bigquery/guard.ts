import type { SqlHelpers } from '../../src/contract/telemetry/index.ts';
import { SightlineError } from '../../src/contract/core/index.ts';
import type { DryRun } from './jobs.ts';

/** BigQuery names no more tables than this. */
const mostTablesNamed = 50;
/** Throws unless BigQuery's dry run agrees with the gate: a second check, by the engine's own parser. */
export function checkDryRun(found: DryRun, allowed: ReadonlySet<string>, helpers: SqlHelpers): void {
  if (found.statementType !== 'SELECT') {
    throw helpers.refuse('sql_not_read_only', 'Only a single SELECT is allowed.');
  }
  const foreign = found.tables.some((table) => !allowed.has(table));
  if (foreign || found.tables.length >= mostTablesNamed) {
    throw helpers.refuse('sql_refused', 'The statement reads something else than telemetry.', {
      hint: 'The tables are otel.spans, otel.metrics, otel.logs.',
    });
  }
  if (found.routines > 0) {
    throw helpers.refuse('sql_refused', 'The statement calls a routine.', { hint: 'Use GoogleSQL’s own functions.' });
  }
  if (found.parameters > 0) {
    throw helpers.refuse('sql_refused', 'The statement has parameters.', {
      hint: 'Write the values into the statement.',
    });
  }
}

export function checkCost(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw tooCostly(bytes, maxBytes);
}

export function tooCostly(bytes: number | undefined, maxBytes: number, cause?: unknown): SightlineError {
  const would = bytes === undefined ? 'more' : sizeText(bytes);
  return new SightlineError('query_too_costly', `The query would read ${would}; ${sizeText(maxBytes)} is the most.`, {
    hint: 'Narrow the time window and name the columns you need instead of *.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function sizeText(bytes: number): string {
  if (bytes >= 1e12) return `${(bytes / 1e12).toFixed(1)} TB`;
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
