import type { OrganizationId } from '../../../src/contract/core/index.ts';
import {
  otelTables,
  tableNames,
  type LogicalColumn,
  type ReadRules,
  type RuleAction,
  type TableName,
  type TableRules,
  type Telemetry,
} from '../../../src/contract/telemetry/index.ts';
import type { Withheld } from '../isolation-rows.ts';
import { ask } from './warehouse.ts';

export interface Ruled {
  readonly telemetry: Telemetry;
  /** It has the withheld rows, and its own people ask. */
  readonly organizationId: OrganizationId;
  readonly secret: Withheld;
  readonly statements: readonly string[];
  readonly timeoutMs: number;
  /** What comes of an error: of what only the log gets too, where the engine does not quote the rules in it. */
  readonly textOf: (error: unknown) => string;
}

/**
 * Asks each statement where everything that can hold a text is ruled, by each action. Answers those that show what the rules
 * withhold, how many were answered at all, and how to ask without a rule.
 */
export async function everyWay({ telemetry, organizationId, secret, statements, timeoutMs, textOf }: Ruled) {
  const limits = { maxRows: 50, timeoutMs };
  const attempt = async (sql: string, rules?: ReadRules): Promise<string> => {
    try {
      const { columns, text } = await ask(telemetry, organizationId, sql, { limits, ...(rules && { rules }) });
      return JSON.stringify(columns) + text;
    } catch (error) {
      return textOf(error);
    }
  };
  const wrong: string[] = [];
  let answered = 0;
  for (const action of ['mask', 'hash', 'deny'] as const) {
    const rules = everythingRuled(action, secret);
    for (const sql of statements) {
      const outcome = await attempt(sql, rules);
      if (outcome.startsWith('[{')) answered += 1;
      if (outcome.includes(secret.marker)) wrong.push(`${action}: ${sql} → ${outcome.slice(0, 300)}`);
    }
  }
  return { wrong, answered, unruled: attempt };
}

/** The message of an error, and of what it was caused by. */
export function withCause(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return `${String(error)} ${cause}`;
}

function everythingRuled(action: RuleAction, { marker }: Withheld): ReadRules {
  const rulesOf = (table: TableName): TableRules => {
    const columns: readonly LogicalColumn[] = otelTables[table].columns;
    const texts = columns.filter(({ type }) => type === 'string').map(({ name }) => [name, action] as const);
    const nested = columns.filter(({ type }) => ['events', 'links', 'exemplars'].includes(type));
    return {
      columns: new Map([...texts, ...nested.map(({ name }) => [name, 'mask'] as const)]),
      attributes: [
        { key: `key-${marker}`, prefix: false, action: 'deny' },
        { key: '', prefix: true, action },
      ],
    };
  };
  const tables = { spans: rulesOf('spans'), metrics: rulesOf('metrics'), logs: rulesOf('logs') };
  return { key: action, salt: '000102030405060708090a0b0c0d0e0f', tables };
}

/** So that every table has some. */
export const withheldOf = (secret: Withheld) =>
  tableNames.map((table) => ({ table, rows: secret.rows(table).slice(0, 20) }));
