import type { ResolvedMapping, TableSource } from '../../src/contract/telemetry/index.ts';
import { literal, type Rows } from './quote.ts';
import { map } from './types.ts';

/** One attribute of a JSON column as text, '' where it is absent. Reads that path alone, not the whole column. */
export function jsonAttribute(column: string, key: string): string {
  return `CAST(getSubcolumn(${column}, ${literal(key)}), 'String')`;
}

/**
 * A JSON column as the logical map: paths joined by dots, values as text. The whole column is read and taken apart, about
 * a hundred times the work of one path, so it is for events, links and rules, never for a filter.
 */
export function jsonToMap(column: string): string {
  // JSONAllValues would be shorter, and is only there from 26.4 on.
  const raw = `arrayFold((_at, _part) -> JSONExtractRaw(_at, _part), splitByChar('.', _path), toJSONString(${column}))`;
  const text = `arrayMap(_raw -> if(startsWith(_raw, '"'), JSONExtractString(_raw), _raw), [${raw}])[1]`;
  return `CAST(arrayMap(_path -> (_path, ${text}), JSONAllPaths(${column})), '${map}')`;
}

export interface ReadMapping {
  readonly mapping: ResolvedMapping;
  /** Expressions that are JSON columns: they are read, and bound by rules, in another way than maps. */
  readonly json: ReadonlySet<string>;
  /** Logical columns of such expressions. */
  readonly jsonNames: ReadonlySet<string>;
}

/** The mapping, in which a column that is JSON in one table is so in all of them: it is read in one way. */
export async function withJson(rows: Rows, mapping: ResolvedMapping): Promise<ReadMapping> {
  const found = new Map<TableSource, ReadonlySet<string>>();
  for (const source of Object.values(mapping.tables).flat()) found.set(source, await jsonOf(rows, source));
  const jsonNames = new Set<string>();
  for (const names of found.values()) for (const name of names) jsonNames.add(name);
  const json = new Set<string>();
  const unified = (source: TableSource): TableSource => {
    const columns = { ...source.columns };
    for (const name of jsonNames) {
      if (found.get(source)?.has(name) !== true) columns[name] = `CAST(toJSONString(${columns[name]}), 'JSON')`;
      json.add(columns[name] ?? '');
    }
    return { ...source, columns };
  };
  const tables = Object.fromEntries(Object.entries(mapping.tables).map(([name, all]) => [name, all.map(unified)]));
  return { mapping: { ...mapping, tables }, json, jsonNames };
}

/** Logical columns of a source that are JSON columns of its table. */
async function jsonOf(rows: Rows, { columns, from }: TableSource): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const name of ['attributes', 'resource_attributes']) {
    const expression = columns[name];
    if (expression === undefined || !/^[A-Za-z_]\w*$/.test(expression)) continue;
    const [row] = await rows(
      `SELECT 1 AS there FROM system.columns WHERE name = ${literal(expression)}
         AND match(concat(database, '.', table), ${literal(pathPattern(from))}) AND startsWith(type, 'JSON') LIMIT 1`,
    );
    if (row !== undefined) found.add(name);
  }
  return found;
}

/** A FROM item as a pattern of `database.table`; one that names no database may lie in any. */
function pathPattern(from: string): string {
  const path = from.replaceAll('`', '').replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`);
  const open = path.replaceAll('{tenant}', '[A-Za-z0-9_-]+');
  return from.includes('.') ? `^${open}$` : String.raw`(^|\.)${open}$`;
}
