import type { Picture } from '../graphics/picture.ts';
import { tracePicture } from '../pages/incidents/pictures.ts';
import { chartOf } from '../pages/telemetry/chart.ts';

/** Rows of a query. */
export interface Rows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

let drawn = 0;

/** The spans of one trace as a waterfall, else what the page Explore draws of these columns. */
export function pictureOf({ columns, rows }: Rows): Picture | undefined {
  drawn += 1;
  const id = `chart-${drawn}`;
  const names = columns.map(({ name }) => name);
  const trace = names.indexOf('trace_id');
  // Spans of several traces would stand beside each other as if they were of one.
  const isOne = trace === -1 || new Set(rows.map((row) => row[trace])).size === 1;
  return (isOne ? tracePicture({ columns: names, rows }, id) : undefined) ?? chartOf({ columns, rows }, id);
}
