import {
  itemFields,
  otelTables,
  tableNames,
  type LogicalColumn,
  type RelationWriter,
  type AttributeRule,
  type AttributeRules,
  type AttributesType,
} from '../../src/contract/telemetry/index.ts';
import { identifier, literal } from './quote.ts';
import { typeOf } from './types.ts';
import { jsonAttribute, jsonToMap } from './json-attributes.ts';

/** `mask` and `hash` of a text expression, see RuleAction. */
function ruledText(expression: string, action: 'mask' | 'hash', salt: string): string {
  if (action === 'mask') return "'***'";
  const text = `toString(${expression})`;
  return `if(${text} = '', '', substring(lower(hex(SHA256(concat(${literal(salt)}, ${text})))), 1, 16))`;
}

/** A map, or a list of what has attributes, with the rules applied to them. `json`: the expression is a JSON column. */
function ruledAttributes(expression: string, type: AttributesType, rules: AttributeRules, json: boolean): string {
  if (type === 'map') return json ? ruledJson(expression, rules) : ruledMap(expression, rules, isKey);
  const kept = itemFields[type].others.map((_, index) => `_item.${index + 1}`);
  const ruled = ruledMap(`_item.${kept.length + 1}`, rules, isKey);
  const list = literal(typeOf[type]);
  return `CAST(arrayMap(_item -> (${kept.join(', ')}, ${ruled}), ${expression}), ${list})`;
}

type Fits = (rule: AttributeRule) => string;

function ruledMap(map: string, { attributes, salt }: AttributeRules, fits: Fits): string {
  const first = (say: (rule: AttributeRule) => string, otherwise: string) =>
    `multiIf(${attributes.map((rule) => `${fits(rule)}, ${say(rule)}`).join(', ')}, ${otherwise})`;
  const kept = attributes.some(({ action }) => action === 'deny')
    ? `mapFilter((_key, _value) -> ${first(({ action }) => (action === 'deny' ? '0' : '1'), '1')}, ${map})`
    : map;
  if (attributes.every(({ action }) => action === 'deny')) return kept;
  const value = first(({ action }) => (action === 'deny' ? '_value' : ruledText('_value', action, salt)), '_value');
  return `mapApply((_key, _value) -> (_key, ${value}), ${kept})`;
}

/** Keeps the JSON type, so that attributes are read in the same way for every role. */
function ruledJson(column: string, rules: AttributeRules): string {
  const { attributes } = rules;
  const ruled = ruledMap(jsonToMap(column), rules, isPath);
  if (attributes.some(({ action }) => action !== 'deny')) return `CAST(${ruled}, 'JSON')`;
  const type = literal(`JSON(${attributes.map((rule) => `SKIP REGEXP ${literal(pathPattern(rule))}`).join(', ')})`);
  // What a list or a text holds has no path, and to skip theirs would skip all that lies under it in other rows.
  const leading = attributes.flatMap(({ key }) => Array.from(key.matchAll(/\./g), ({ index }) => key.slice(0, index)));
  const held = [...new Set(leading)].map((key) => `match(${jsonAttribute(column, key)}, '^[[{]')`);
  const skipped = `CAST(${column}, ${type})`;
  return held.length === 0 ? skipped : `if(${held.join(' OR ')}, CAST(${ruled}, ${type}), ${skipped})`;
}

function isKey({ key, prefix }: AttributeRule): string {
  const own = prefix ? `startsWith(_key, ${literal(key)})` : `_key = ${literal(key)}`;
  const within = `startsWith(${literal(key)}, concat(_key, '.')) AND substring(_value, 1, 1) IN ('{', '[')`;
  return `(${own} OR (${within}))`;
}

/** A nested value has become paths of its own: what holds for the key holds for what is under it. */
function isPath(rule: AttributeRule): string {
  return rule.prefix ? isKey(rule) : `(${isKey(rule)} OR startsWith(_key, ${literal(`${rule.key}.`)}))`;
}

function pathPattern({ key, prefix }: AttributeRule): string {
  const escaped = key.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return prefix ? `^${escaped}` : String.raw`^${escaped}(\.|$)`;
}

export interface RelationWriterOptions {
  /** Expressions of the mapping that are JSON columns, see `withJson`. */
  readonly json: ReadonlySet<string>;
  /** FROM items that take PREWHERE, see `prewhereSources`. Whatever is not in it is bounded in another, slower way. */
  readonly prewhere: ReadonlySet<string>;
}

/** What stands beneath a telemetry table in ClickHouse. */
export function relationWriter({ json, prewhere }: RelationWriterOptions): RelationWriter {
  return {
    identifier,
    timestamp,
    empty,
    text: ruledText,
    attributes: (expression, type, rules) => ruledAttributes(expression, type, rules, json.has(expression)),
    filter,
    select(columns, from, tenant, others) {
      // Two traps lie in ClickHouse's scopes. An alias of a list stands for a column of the same name everywhere in its
      // SELECT, PREWHERE too: with `op AS name … PREWHERE name = 'acme'`, an operation named acme would pass as the tenant
      // acme. And names of the outer statement reach inward, functions' too: `WITH (a, b) -> 1 AS equals` would make every
      // PREWHERE true. So we use our own aliases, and view(), which outer names do not reach.
      const inner = columns.map(([name, expression], index) => `${inUtc(name, expression)} AS ${alias(index)}`);
      const outer = columns.map(([name], index) => `${alias(index)} AS ${identifier(name)}`);
      const bounded = prewhere.has(from) ? filter(tenant, others) : barred(tenant, others);
      return `SELECT ${outer.join(', ')} FROM view(SELECT ${inner.join(', ')} FROM ${from}${bounded && ` ${bounded}`})`;
    },
  };
}

const times: ReadonlySet<string> = new Set(
  tableNames.flatMap((table) =>
    otelTables[table].columns.filter(({ type }) => type === 'timestamp').map(({ name }) => name),
  ),
);

/** Text beside a time is read in the time's own zone, and a table's may be any. The value stays as it is. */
function inUtc(name: string, expression: string): string {
  return times.has(name) ? `toTimeZone(${expression}, 'UTC')` : expression;
}

const alias = (index: number) => `_sightline_${index}`;

/** PREWHERE runs before any predicate of the caller's, so that errors reveal nothing about other tenants' rows. */
function filter(tenant: string | undefined, others: readonly string[]): string {
  return [
    ...(tenant === undefined ? [] : [`PREWHERE ${tenant}`]),
    ...(others.length === 0 ? [] : [`WHERE ${others.join(' AND ')}`]),
  ].join(' ');
}

/** For views and joins, which know no PREWHERE: no predicate is moved beneath a LIMIT, however large. */
function barred(tenant: string | undefined, others: readonly string[]): string {
  if (tenant === undefined) return filter(tenant, others);
  return `WHERE ${[`(${tenant})`, ...others].join(' AND ')} LIMIT 9223372036854775807`;
}

/** What DateTime64(9) can hold; no row lies outside. */
const earliest = Date.UTC(1900, 0, 1);
const latest = Date.UTC(2262, 0, 1);

function timestamp(time: Date): string {
  const held = new Date(Math.min(Math.max(time.getTime(), earliest), latest));
  return `toDateTime64('${held.toISOString().replace('T', ' ').replace('Z', '')}', 9, 'UTC')`;
}

function empty({ type, nullable }: LogicalColumn): string {
  if (nullable) return `CAST(NULL, ${literal(`Nullable(${typeOf[type]})`)})`;
  if (type === 'string') return "''";
  if (type === 'boolean') return 'false';
  const nothing = type === 'map' ? 'map()' : type === 'int64' || type === 'float64' ? '0' : '[]';
  return type === 'timestamp' ? "toDateTime64(0, 9, 'UTC')" : `CAST(${nothing}, ${literal(typeOf[type])})`;
}
