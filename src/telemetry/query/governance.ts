import { createHash } from 'node:crypto';
import {
  otelTables,
  tableNames,
  type AttributeRule,
  type LogicalTable,
  type ReadRules,
  type RuleAction,
  type TableName,
  type TableRules,
} from '../../contract/telemetry/index.ts';
import type { OrganizationId } from '../../contract/core/index.ts';
import type { Principal } from '../../contract/issuer/index.ts';

/** Of an API key both `key` and the role it has apply; the agent is under every rule, since all read what it finds. */
export const readerRoles = ['admin', 'member', 'key', 'agent'] as const;
export type ReaderRole = (typeof readerRoles)[number];

/** Who will read the rows. */
export type Reader = 'agent' | Pick<Principal, 'kind' | 'role'>;

/** What readers may not see as it is. A part that is left out means all. */
export interface GovernanceRule {
  readonly roles?: readonly ReaderRole[] | undefined;
  readonly tables?: readonly TableName[] | undefined;
  /** Logical ones; what the tables lack is passed over. */
  readonly columns?: readonly string[] | undefined;
  /** Keys, or with a `*` at the end how keys begin. */
  readonly attributes?: readonly string[] | undefined;
  readonly action: RuleAction;
}

export interface Governance {
  /** Undefined where nothing is ruled for this reader. */
  rulesFor(reader: Reader, organizationId: OrganizationId): ReadRules | undefined;
}

/**
 * Columns that are copies of an attribute: a rule for one holds for the other. With an underscore as SigNoz keeps labels of
 * metrics, `container_name` where Google Cloud knows no service.
 */
const copies: ReadonlyMap<string, readonly string[]> = new Map([
  ['service_name', ['service.name', 'service_name', 'container_name']],
  ['service_version', ['service.version', 'service_version']],
  ['deployment_environment', ['deployment.environment.name', 'deployment.environment', 'deployment_environment']],
  ['event_name', ['event.name']],
]);

const strictness = { deny: 3, mask: 2, hash: 1 } as const satisfies Record<RuleAction, number>;
const mostKept = 10_000;

/**
 * Compiles the rules once for each kind of reader and organization. Where several hold, the strictest does.
 * @param salt 32 hex digits, an organization's own.
 */
export function createGovernance({
  rules,
  salt,
}: {
  readonly rules: readonly GovernanceRule[];
  readonly salt: (organizationId: OrganizationId) => string;
}): Governance {
  const tablesOf = new Map<string, ReadRules['tables'] | undefined>();
  const kept = new Map<string, ReadRules>();
  return {
    rulesFor(reader, organizationId) {
      const audience = reader === 'agent' ? reader : `${reader.kind} ${reader.role}`;
      const id = `${audience} ${organizationId}`;
      const known = kept.get(id);
      if (known !== undefined) return known;
      if (!tablesOf.has(audience)) tablesOf.set(audience, compile(rules.filter((rule) => holds(rule, reader))));
      const tables = tablesOf.get(audience);
      if (tables === undefined) return undefined;
      const compiled = readRules(tables, salt(organizationId));
      if (kept.size >= mostKept) kept.clear();
      kept.set(id, compiled);
      return compiled;
    },
  };
}

/** The table as this reader finds it: without what is denied, and with a word on what is masked or hashed. */
export function readableTable(table: LogicalTable, rules: ReadRules | undefined): LogicalTable {
  const ruled = rules?.tables[table.name].columns;
  if (ruled === undefined || ruled.size === 0) return table;
  const columns = table.columns.flatMap((column) => {
    const action = ruled.get(column.name);
    if (action === 'deny') return [];
    if (action === undefined) return [column];
    const note = action === 'mask' ? 'masked for your role' : 'hashed for your role';
    return [{ ...column, description: column.description === '' ? note : `${column.description} (${note})` }];
  });
  return { ...table, columns };
}

/** Whether this reader may not read the column as it is, in one of the tables at least. */
export function isRuled(column: string, reader: Reader, rules: readonly GovernanceRule[]): boolean {
  const tables = compile(rules.filter((rule) => holds(rule, reader)));
  return tables !== undefined && tableNames.some((table) => tables[table].columns.has(column));
}

/** Whether one of the tables has the column and this reader may not read it. */
export function isDenied(column: string, tables: readonly TableName[], rules: ReadRules | undefined): boolean {
  return rules !== undefined && tables.some((table) => rules.tables[table].columns.get(column) === 'deny');
}

function holds({ roles }: GovernanceRule, reader: Reader): boolean {
  if (roles === undefined || reader === 'agent') return true;
  return roles.includes(reader.role) || (reader.kind === 'key' && roles.includes('key'));
}

function compile(rules: readonly GovernanceRule[]): ReadRules['tables'] | undefined {
  if (rules.length === 0) return undefined;
  const of = (table: TableName): TableRules =>
    compileTable(
      table,
      rules.filter(({ tables }) => tables === undefined || tables.includes(table)),
    );
  return { spans: of('spans'), metrics: of('metrics'), logs: of('logs') };
}

function compileTable(table: TableName, rules: readonly GovernanceRule[]): TableRules {
  const known = new Set<string>(otelTables[table].columns.map(({ name }) => name));
  const columns = new Map<string, RuleAction>();
  const attributes = new Map<string, AttributeRule>();
  const ruleColumn = (name: string, action: RuleAction): void => {
    if (known.has(name)) columns.set(name, stricter(columns.get(name), action));
  };
  const ruleAttribute = (written: string, action: RuleAction): void => {
    const prefix = written.endsWith('*');
    const key = prefix ? written.slice(0, -1) : written;
    attributes.set(written, { key, prefix, action: stricter(attributes.get(written)?.action, action) });
  };
  for (const { columns: names = [], attributes: keys = [], action } of rules) {
    for (const name of names.filter((each) => known.has(each))) {
      ruleColumn(name, action);
      for (const key of copies.get(name) ?? []) ruleAttribute(key, action);
    }
    for (const key of keys) ruleAttribute(key, action);
  }
  for (const [column, keys] of copies) {
    for (const rule of attributes.values()) if (keys.some((key) => fits(rule, key))) ruleColumn(column, rule.action);
  }
  // The first that fits applies, so the strictest come first.
  const ordered = [...attributes.values()].toSorted((a, b) => strictness[b.action] - strictness[a.action]);
  return { columns, attributes: ordered };
}

function fits({ key, prefix }: AttributeRule, attribute: string): boolean {
  return prefix ? attribute.startsWith(key) : attribute === key;
}

function stricter(a: RuleAction | undefined, b: RuleAction): RuleAction {
  return a !== undefined && strictness[a] > strictness[b] ? a : b;
}

function readRules(tables: ReadRules['tables'], salt: string): ReadRules {
  const content = tableNames.map((table) => [[...tables[table].columns], tables[table].attributes]);
  const key = createHash('sha256')
    .update(JSON.stringify([salt, content]))
    .digest('hex')
    .slice(0, 32);
  return { key, salt, tables };
}
