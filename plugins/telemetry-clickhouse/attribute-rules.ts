import type { AttributeRule, AttributeRules, ColumnType } from '../../src/contract/telemetry/index.ts';
import { jsonToMap } from './json-attributes.ts';
import { literal } from './quote.ts';
import { event, link } from './types.ts';

/** `mask` and `hash` of a text expression, see RuleAction. */
export function ruledText(expression: string, action: 'mask' | 'hash', salt: string): string {
  if (action === 'mask') return "'***'";
  const text = `toString(${expression})`;
  return `if(${text} = '', '', substring(lower(hex(SHA256(concat(${literal(salt)}, ${text})))), 1, 16))`;
}

/** A map, events or links with the rules applied to its attributes. `json`: the expression is a JSON column. */
export function ruledAttributes(
  expression: string,
  type: Extract<ColumnType, 'map' | 'events' | 'links'>,
  rules: AttributeRules,
  json: boolean,
): string {
  if (type === 'map') return json ? ruledJson(expression, rules) : ruledMap(expression, rules, isKey);
  const [element, parts, attributes] = type === 'events' ? [event, 2, 3] : [link, 3, 4];
  const kept = Array.from({ length: parts }, (_, index) => `_item.${index + 1}`);
  const ruled = ruledMap(`_item.${attributes}`, rules, isKey);
  return `arrayMap(_item -> CAST((${kept.join(', ')}, ${ruled}), ${literal(element)}), ${expression})`;
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

/** A JSON column stays one, so that attributes are read in the same way whoever asks. */
function ruledJson(column: string, rules: AttributeRules): string {
  if (rules.attributes.some(({ action }) => action !== 'deny')) {
    return `CAST(${ruledMap(jsonToMap(column), rules, isPath)}, 'JSON')`;
  }
  const skipped = rules.attributes.map((rule) => `SKIP REGEXP ${literal(pathPattern(rule))}`);
  return `CAST(${column}, ${literal(`JSON(${skipped.join(', ')})`)})`;
}

function isKey({ key, prefix }: AttributeRule): string {
  return prefix ? `startsWith(_key, ${literal(key)})` : `_key = ${literal(key)}`;
}

/** A nested value has become paths of its own: what holds for the key holds for what is under it. */
function isPath(rule: AttributeRule): string {
  return rule.prefix ? isKey(rule) : `(${isKey(rule)} OR startsWith(_key, ${literal(`${rule.key}.`)}))`;
}

function pathPattern({ key, prefix }: AttributeRule): string {
  const escaped = key.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return prefix ? `^${escaped}` : String.raw`^${escaped}(\.|$)`;
}
