import type { ErrorCode, SightlineError } from '../../../src/contract/core/index.ts';
import {
  shownName,
  type Json,
  type Node,
  type SqlHelpers,
  type Unknown,
} from '../../../src/contract/telemetry/index.ts';
import { functionHints, functionNames } from './functions.ts';

/** What the gate says to a caller: where, why, and what to write instead. */
export class Refusals {
  readonly #helpers: SqlHelpers;
  /** Where a position of the tree lies in the caller's SQL. */
  readonly #position: (location: Json | undefined) => number | undefined;

  constructor(helpers: SqlHelpers, position: (location: Json | undefined) => number | undefined) {
    this.#helpers = helpers;
    this.#position = position;
  }

  unknown({ node, type, field }: Unknown): SightlineError {
    if (field !== undefined) return this.construct(field, node);
    if (type === 'PARAMETER') return this.parameters(node);
    if (type === 'SHOW_REF') return this.#show(node);
    return this.construct(type ?? 'node', node);
  }

  construct(what: string, node: Node | undefined): SightlineError {
    return this.refuse(
      `The statement uses a construct that is not allowed (${shownName(what)}).`,
      node,
      'Write it as a plain SELECT over otel.spans, otel.metrics and otel.logs.',
    );
  }

  parameters(node: Node | undefined): SightlineError {
    return this.refuse('Parameters are not available.', node, 'Write the value into the SQL.');
  }

  #show(node: Node | undefined): SightlineError {
    const summary = node?.['show_type'] === 'SUMMARY';
    return this.refuse(
      `${summary ? 'SUMMARIZE' : 'SHOW and DESCRIBE'} cannot be part of a query.`,
      node,
      summary
        ? 'Ask for what you need: SELECT count(*), min(time), max(time), approx_count_distinct(name) FROM otel.spans.'
        : 'Send SHOW TABLES, DESCRIBE otel.spans or SHOW ATTRIBUTES FROM otel.spans by itself.',
    );
  }

  unknownTable(name: string, node: Node): SightlineError {
    return this.#helpers.unknownTable(name, this.#at(node));
  }

  unknownFunction(name: string, node: Node): SightlineError {
    const hint = functionHints[name];
    return this.#helpers.unknownFunction(name, functionNames, {
      ...this.#at(node),
      ...(hint !== undefined && { hint }),
    });
  }

  refuse(
    message: string,
    node: Node | undefined,
    hint: string,
    code: Extract<ErrorCode, `sql_${string}` | `unknown_${string}`> = 'sql_refused',
  ): SightlineError {
    return this.#helpers.refuse(code, message, { hint, ...(node && this.#at(node)) });
  }

  #at(node: Node): { readonly position?: number } {
    const position = this.#position(node['query_location']);
    return position === undefined ? {} : { position };
  }
}
