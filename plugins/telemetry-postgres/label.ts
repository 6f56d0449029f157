import type { StatementLabel } from '../../src/contract/index.ts';

/** A comment before the statement, in the manner of sqlcommenter: principal='ak_1',tool='query_otel',trace_id='…'. */
export function labelComment(label: StatementLabel | undefined): string {
  if (label === undefined) return '';
  const { principal, tool, traceId } = label;
  const pairs = { principal, tool, trace_id: traceId };
  const text = Object.entries(pairs).map(([key, value]) => `${key}='${encode(value)}'`);
  return `/*${text.join(',')}*/ `;
}

/** Only letters, digits and `-_.~%` are left, so that nothing ends the comment or the value. */
function encode(value: string): string {
  const escape = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(value.slice(0, 200).toWellFormed()).replaceAll(/[!'()*]/g, escape);
}
