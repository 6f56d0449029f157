import { SightlineError } from '../../contract/core/index.ts';
import type { Dialect, ReadRules } from '../../contract/telemetry/index.ts';
import { AttributeKeys } from './attribute-keys.ts';
import { describeTable, findTable, showTables, type ServiceAnswer } from './catalog.ts';
import type { QueryRequest } from './request.ts';
import type { QueryResult } from './result.ts';
import type { ServiceCommand } from './service-command.ts';
import type { TimeBounds } from './window.ts';

/** Enough to recognise a value by. */
const sampledValueBytes = 200;

/** Answers SHOW and DESCRIBE as far as the rules let the caller read. */
export class ServiceAnswers {
  readonly #dialect: Dialect;
  readonly #attributeKeys: AttributeKeys;
  readonly #run: (request: QueryRequest) => Promise<QueryResult>;

  /** @param run sends SQL through the whole pipeline, in the caller's own name. */
  constructor(dialect: Dialect, now: () => Date, run: (request: QueryRequest) => Promise<QueryResult>) {
    this.#dialect = dialect;
    this.#attributeKeys = new AttributeKeys(dialect, now);
    this.#run = run;
  }

  async answer(command: ServiceCommand, request: QueryRequest, rules: ReadRules | undefined): Promise<ServiceAnswer> {
    const { organizationId, window = {} } = request;
    switch (command.kind) {
      case 'tables':
        return showTables(this.#dialect, command.like);
      case 'columns':
        return describeTable(this.#dialect, command.table, command.like, rules);
      case 'attributes': {
        const table = findTable(this.#dialect, command.table);
        const question = { organizationId, table, like: command.like, window, rules };
        return this.#attributeKeys.answer(question, (sql, sampled) => this.#sample(sql, request, sampled));
      }
    }
  }

  async #sample(sql: string, request: QueryRequest, window: TimeBounds): Promise<readonly (readonly unknown[])[]> {
    try {
      const limits = { ...request.limits, maxCellBytes: sampledValueBytes };
      const { rowsJson } = await this.#run({ ...request, sql, window, limits, readAhead: false });
      const rows: readonly (readonly unknown[])[] = JSON.parse(`[${rowsJson.toString()}]`);
      return rows;
    } catch (error) {
      // The SQL is ours: a complaint about it would tell the caller to mend what it did not write.
      if (error instanceof SightlineError && /^(?:sql|unknown)_/.test(error.code)) {
        throw new Error('the sampling statement was refused', { cause: error });
      }
      throw error instanceof SightlineError && error.retry !== undefined ? askedAgain(error, request.sql) : error;
    }
  }
}

/** The call that is offered instead is the caller's own, not our sampling. */
function askedAgain(error: SightlineError, sql: string): SightlineError {
  const { code, message, hint, retry, retryAfterSeconds, operatorMessage, cause } = error;
  return new SightlineError(code, message, {
    ...(hint === undefined ? {} : { hint }),
    retry: { ...retry, sql },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(operatorMessage === undefined ? {} : { operatorMessage }),
    cause,
  });
}
