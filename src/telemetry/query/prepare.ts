import { LRUCache } from 'lru-cache';
import { SightlineError, type OrganizationId } from '../../contract/core/index.ts';
import type {
  CheckedStatement,
  ReadRules,
  StatementContext,
  TableName,
  Telemetry,
} from '../../contract/telemetry/index.ts';
import { cautionsOf } from './cautions.ts';
import type { Deadline } from './deadline.ts';
import type { Progress } from './execute.ts';
import { statementWindow, type StatementWindow, type TimeBounds } from './window.ts';

/** Refuses what no parser should see: nothing, too much, NUL (parsers disagree on it), and text that is not Unicode. */
export function checkText(sql: string, maxBytes: number): void {
  if (sql.length > maxBytes || Buffer.byteLength(sql) > maxBytes) {
    throw new SightlineError('sql_too_large', `The statement is over ${maxBytes} bytes.`, {
      hint: 'Shorten it: long IN lists can often be a join, a range or a LIKE.',
    });
  }
  const nul = sql.indexOf('\0');
  if (nul >= 0) {
    throw new SightlineError('sql_syntax', 'The statement contains a NUL character.', { position: nul + 1 });
  }
  if (!sql.isWellFormed()) {
    throw new SightlineError('sql_syntax', 'The statement contains half of a surrogate pair, which is no character.');
  }
  if (sql.trim() === '') {
    throw new SightlineError('sql_syntax', 'The statement is empty.', {
      hint: 'Start with SHOW TABLES, DESCRIBE otel.spans, or SELECT … FROM otel.spans.',
    });
  }
}

/** A statement that was parsed and checked, and how it was last rendered. */
interface CachedStatement {
  readonly checked: CheckedStatement;
  /** What it was rendered under. */
  readonly binding: Binding;
  readonly rendered: string;
  readonly cautions: readonly string[];
}

/** All that a rendering depends on beside the statement. */
interface Binding {
  /** A tenant that a plugin writes into the SQL is not remembered for longer. */
  readonly minute: number;
  /** Epoch milliseconds. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  /** Of the rules. */
  readonly rules: string | undefined;
}

function isSameBinding(one: Binding, other: Binding): boolean {
  return one.minute === other.minute && one.start === other.start && one.end === other.end && one.rules === other.rules;
}

/** Larger ones are parsed each time: few are asked twice. */
const longestCached = 16_384;
/** What a parsed tree weighs in memory for each character of its statement, roughly and rather too much. */
const treeWeight = 100;

/**
 * Least recently used statements, bounded by number and by weight in bytes. The organization is part of the key although
 * nothing of it should be in a statement's text: a plugin that writes it there must not hand it to another organization.
 */
export class StatementCache {
  readonly #entries: LRUCache<string, CachedStatement>;

  constructor({ maxEntries = 1000, maxWeight = 32_000_000 }: { maxEntries?: number; maxWeight?: number } = {}) {
    this.#entries = new LRUCache({ max: maxEntries, maxSize: maxWeight });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(organizationId: OrganizationId, sql: string): CachedStatement | undefined {
    return this.#entries.get(keyOf(organizationId, sql));
  }

  set(organizationId: OrganizationId, sql: string, statement: CachedStatement): void {
    if (sql.length > longestCached) return;
    const key = keyOf(organizationId, sql);
    const size = 2 * (key.length + statement.rendered.length) + treeWeight * sql.length;
    this.#entries.set(key, statement, { size });
  }
}

function keyOf(organizationId: OrganizationId, sql: string): string {
  return `${organizationId}\n${sql}`;
}

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
  /** For the caller: what in the statement yields nothing. */
  readonly cautions: readonly string[];
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
    return { rendered: cached.rendered, tables: checked.tables, shown, cautions: cached.cautions };
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
    const cautions = cached?.cautions ?? cautionsOf(sql, tables, this.#telemetry.dialect).map(({ text }) => text);
    if (remember) this.#statements.set(organizationId, sql, { checked, binding, rendered, cautions });
    return { rendered, tables, shown, cautions };
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
