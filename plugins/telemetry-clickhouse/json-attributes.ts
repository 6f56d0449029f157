import type { ResolvedMapping } from '../../src/contract/telemetry/index.ts';
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

/** The expressions of a mapping whose attributes are JSON columns: they are read, and bound by rules, in another way than maps. */
export async function jsonColumns(rows: Rows, { tables }: ResolvedMapping): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const source of Object.values(tables).flat()) {
    for (const column of ['attributes', 'resource_attributes']) {
      const expression = source.columns[column];
      if (expression === undefined || found.has(expression) || !/^[A-Za-z_]\w*$/.test(expression)) continue;
      const [row] = await rows(
        `SELECT 1 AS there FROM system.columns WHERE name = ${literal(expression)}
           AND match(concat(database, '.', table), ${literal(pathPattern(source.from))}) AND startsWith(type, 'JSON') LIMIT 1`,
      );
      if (row !== undefined) found.add(expression);
    }
  }
  return found;
}

/** A FROM item as a pattern of `database.table`; one that names no database may lie in any. */
function pathPattern(from: string): string {
  const path = from.replaceAll('`', '').replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`);
  const open = path.replaceAll('{tenant}', '[A-Za-z0-9_-]+');
  return from.includes('.') ? `^${open}$` : String.raw`(^|\.)${open}$`;
}
