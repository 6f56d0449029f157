import type { OrganizationId } from '../../contract/core/index.ts';
import type {
  CheckedStatement,
  ReadRules,
  StatementContext,
  TableName,
  Telemetry,
} from '../../contract/telemetry/index.ts';
import type { Deadline } from './deadline.ts';
import type { Progress } from './explain-failure.ts';
import { isSameBinding, StatementCache } from './statement-cache.ts';
import type { Binding } from './statement-cache.ts';
import { statementWindow } from './window.ts';
import type { StatementWindow, TimeBounds } from './window.ts';

/** A statement and all that its rendering depends on. */
export interface Unprepared {
  readonly sql: string;
  readonly organizationId: OrganizationId;
  readonly window: TimeBounds | undefined;
  readonly rules: ReadRules | undefined;
  readonly now: Date;
}

/** The run that it is prepared for. */
export interface Preparing {
  readonly context: StatementContext;
  readonly deadline: Deadline;
  readonly progress: Progress;
  /** False for statements that are never asked twice. */
  readonly remember: boolean;
}

export interface Prepared {
  readonly rendered: string;
  readonly tables: readonly TableName[];
  readonly shown: StatementWindow | undefined;
}

interface Bound {
  readonly checked: CheckedStatement;
  readonly shown: StatementWindow | undefined;
  readonly binding: Binding;
}

/** Parse, check and render, and what they answered before. */
export class Preparation {
  readonly #telemetry: Telemetry;
  readonly #defaultMs: number;
  readonly #statements = new StatementCache();

  constructor(telemetry: Telemetry, defaultWindowMs: number) {
    this.#telemetry = telemetry;
    this.#defaultMs = defaultWindowMs;
  }

  /** What was answered for the same statement, window and rules before. */
  known(statement: Unprepared): Prepared | undefined {
    const cached = this.#statements.get(statement.organizationId, statement.sql);
    if (cached === undefined) return undefined;
    const { checked, shown, binding } = this.#bind(statement, cached.checked);
    if (!isSameBinding(cached.binding, binding)) return undefined;
    return { rendered: cached.rendered, tables: checked.tables, shown };
  }

  async prepare(statement: Unprepared, preparing: Preparing): Promise<Prepared> {
    const { organizationId, sql, rules } = statement;
    const { context, deadline, progress, remember } = preparing;
    const cached = this.#statements.get(organizationId, sql);
    const checked = cached?.checked ?? (await this.#check(sql, preparing));
    const { tables } = checked;
    const { shown, binding } = this.#bind(statement, checked);
    progress.step = 'render';
    progress.tables = tables;
    progress.window = shown?.window;
    const bound = { ...(shown && { window: shown.bound }), ...(rules && { rules }) };
    const rendered = await deadline.race(this.#telemetry.render(checked, bound, context));
    if (remember) this.#statements.set(organizationId, sql, { checked, binding, rendered });
    return { rendered, tables, shown };
  }

  async #check(sql: string, { context, deadline, progress }: Preparing): Promise<CheckedStatement> {
    progress.step = 'parse';
    const parsed = await deadline.race(this.#telemetry.parse(sql, context));
    progress.step = 'check';
    return this.#telemetry.check(parsed);
  }

  #bind({ window, rules, now }: Unprepared, checked: CheckedStatement): Bound {
    const time = now.getTime();
    const shown = statementWindow(checked, window, { now: time, defaultMs: this.#defaultMs });
    const start = shown?.bound.start.getTime();
    const end = shown?.bound.end?.getTime();
    return { checked, shown, binding: { minute: Math.floor(time / 60_000), start, end, rules: rules?.key } };
  }
}
