import type { ErrorCode, SightlineError } from '../../contract/core/index.ts';
import type { SqlHelpers } from '../../contract/telemetry/index.ts';

type Code = Extract<ErrorCode, `sql_${string}` | `unknown_${string}`>;

/** Refusals with a position in the caller's SQL. */
export class Faults {
  readonly helpers: SqlHelpers;
  readonly #sql: string;

  constructor(helpers: SqlHelpers, sql: string) {
    this.helpers = helpers;
    this.#sql = sql;
  }

  refuse(code: Code, message: string, start: number | undefined, hint?: string): SightlineError {
    return this.helpers.refuse(code, message, { ...this.at(start), ...(hint === undefined ? {} : { hint }) });
  }

  /** Counted in characters, from 1. */
  at(start: number | undefined): { readonly position?: number } {
    return start === undefined ? {} : { position: Array.from(this.#sql.slice(0, start)).length + 1 };
  }
}

/** A piece of the caller's SQL as our messages show it: short, on one line. */
export function shown(text: string): string {
  const plain = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return `"${plain.length > 60 ? `${plain.slice(0, 60)}…` : plain}"`;
}
