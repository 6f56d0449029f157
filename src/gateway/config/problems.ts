import { z } from 'zod';
import { nearestName } from '../../contract/core/spelling.ts';
import { record } from './values.ts';

/**
 * What is wrong with a config or a plugin's section of it, a sentence for each key. Values are never repeated: they may be
 * secrets.
 * @param at the section that the schema is for: `telemetry`.
 */
export function problemsOf(error: z.ZodError, schema: z.ZodType, at?: string): readonly string[] {
  const root = record(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return error.issues.flatMap((issue) => {
    const key = z.core.toDotPath([...(at === undefined ? [] : [at]), ...issue.path]);
    const nodes = issue.path.map(String).reduce(below, alternatives(root));
    if (issue.code === 'invalid_type' && key === '')
      return ['It must hold keys with their values, such as publicUrl: https://mcp.example.com'];
    if (issue.code !== 'unrecognized_keys') return [`${key}: ${causeOf(issue, nodes)}`];
    const known = nodes.flatMap(keysOf);
    return issue.keys.map((name) => {
      const near = nearestName(name, known);
      const repair =
        near !== undefined
          ? ` Did you mean ${near}?`
          : known.length > 0 && known.length <= 20
            ? ` Keys here are ${known.join(', ')}.`
            : '';
      return `${key === '' ? name : `${key}.${name}`}: there is no such key.${repair}`;
    });
  });
}

type Node = Readonly<Record<string, unknown>>;

function keysOf({ properties, propertyNames }: Node): readonly string[] {
  const names = record(propertyNames)['enum'];
  return [...Object.keys(record(properties)), ...(Array.isArray(names) ? names.map(String) : [])];
}

function causeOf(issue: z.core.$ZodIssue, nodes: readonly Node[]): string {
  if (!isOfType(issue)) return issue.message;
  const all = [...new Set(nodes.flatMap(wantedBy))];
  // What the environment gives is text, so texts that stand for numbers and flags are taken, too.
  const isScalar = all.some((word) => /number|true/.test(word));
  const wanted = isScalar ? all.filter((word) => word !== aText) : all;
  if (wanted.length === 0) return issue.message;
  return `${issue.message.endsWith('received undefined') ? 'is missing; it ' : ''}must be ${wanted.join(' or ')}`;
}

/** What the schema says better than zod: the kind of value, and the range of a number. Other limits have words of their own. */
function isOfType(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'too_big' || issue.code === 'too_small')
    return issue.origin === 'number' || issue.origin === 'int';
  return issue.code === 'invalid_union' || issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

const aText = 'a text';

/** The schemas that may hold for a key of what `nodes` describe. */
function below(nodes: readonly Node[], key: string): readonly Node[] {
  return nodes.flatMap((node) => {
    const { properties, items, additionalProperties } = node;
    const next = record(properties)[key] ?? (/^\d+$/.test(key) && items !== undefined ? items : additionalProperties);
    return typeof next === 'object' && next !== null ? alternatives(record(next)) : [];
  });
}

function alternatives(node: Node): readonly Node[] {
  const several = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(several)) return several.flatMap((one) => alternatives(record(one)));
  return Array.isArray(node['type']) ? node['type'].map((type) => ({ ...node, type })) : [node];
}

function wantedBy({ type, enum: values, const: only, minimum, maximum }: Node): readonly string[] {
  if (typeof only === 'string') return [only];
  if (Array.isArray(values)) return values.map(String);
  if (type === 'integer' || type === 'number') {
    const range = [bound('from', minimum), bound('to', maximum)].join('');
    return [`a ${type === 'integer' ? 'whole ' : ''}number${range}`];
  }
  const words: Readonly<Record<string, string>> = {
    boolean: 'true or false',
    string: aText,
    array: 'a list',
    object: 'a section of keys',
  };
  const word = typeof type === 'string' ? words[type] : undefined;
  return word === undefined ? [] : [word];
}

function bound(word: string, value: unknown): string {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? ` ${word} ${value}` : '';
}
