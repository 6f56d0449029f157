import {
  otelTables,
  type LogicalColumn,
  type ResolvedMapping,
  type Sample,
  type TableName,
  type TableSource,
  type ValueNote,
  type ValueReader,
} from '../../contract/telemetry/index.ts';
import { fitOf } from './forms.ts';
import type { Seen } from './seen.ts';
import { severityOf } from './words.ts';

export const noRows = 'no rows to look at, so that names alone tell';

/** The mapped expressions of one source, as they are served. */
export async function lookAt(
  table: TableName,
  { from, where, columns: mapped }: TableSource,
  { empties }: ResolvedMapping,
  reader: ValueReader,
): Promise<readonly ValueNote[]> {
  const lacked = new Set(empties.filter((one) => one.table === table).map(({ column }) => column));
  const logical: readonly LogicalColumn[] = otelTables[table].columns;
  const looked = logical.filter(
    ({ name, type, nullable }) =>
      !lacked.has(name) && nullable === undefined && /^(timestamp|string|int64|map)$/.test(type),
  );
  const expressions = looked.map(({ name }) => mapped[name] ?? '');
  const what = (name: string) => `otel.${table}.${name}`;
  const samples = await reader.sample(from, where, expressions).catch(() => undefined);
  if (samples === undefined)
    return [{ what: `otel.${table}`, found: 'it could not be read, so nothing is known of its values' }];
  const rows = samples[0]?.cells.length ?? 0;
  if (rows === 0) return [{ what: `otel.${table}`, found: noRows }];
  const seen: Record<string, Seen> = {};
  looked.forEach(({ name }, at) => {
    const sample: Sample | undefined = samples[at];
    const sql = expressions[at] ?? '';
    // Of an expression the name says nothing of the unit: it may be mended already.
    const unit = /^[\w"`]+$/.test(sql) ? sql : 'nano';
    if (sample !== undefined) seen[name] = { sql, name: unit, nullable: false, ...sample };
  });
  const text = seen['severity_text'];
  return looked.flatMap((column): readonly ValueNote[] => {
    const one = seen[column.name];
    if (one === undefined) return [];
    const isEmpty = one.cells.every((cell) => cell === null || ['', '0', '{}', '[]', 'UNSPECIFIED'].includes(cell));
    if (column.name === 'severity_number' && isEmpty && text !== undefined) {
      const fit = severityOf('severity_text', text);
      if (fit.mend !== undefined && text.cells.some((cell) => cell !== null && cell !== ''))
        return [
          { what: what(column.name), found: `0 in all ${rows} rows, while severity_text says more`, mend: fit.mend },
        ];
    }
    const fit = fitOf(column, one, seen, reader.sql);
    if (column.name === 'duration_nano' && fit?.mend === one.sql) return [];
    if (fit?.found !== undefined && !(isEmpty && fit.mend === undefined)) {
      return [
        {
          what: what(column.name),
          found: fit.found,
          ...(fit.mend !== undefined && fit.mend !== one.sql && { mend: fit.mend }),
        },
      ];
    }
    return isEmpty && column.name !== 'status_message'
      ? [{ what: what(column.name), found: `empty in all ${rows} rows looked at`, empty: true }]
      : [];
  });
}
