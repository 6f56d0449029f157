import type { StatementLabel } from '../../src/contract/telemetry/index.ts';

/** A comment before the statement, in the manner of sqlcommenter: principal='ak_1',tool='query_otel',trace_id='…'. */
export function labelComment(label: StatementLabel | undefined): string {
  if (label === undefined) return '';
  const { principal, tool, traceId } = label;
  return `/*principal='${encode(principal)}',tool='${encode(tool)}',trace_id='${encode(traceId)}'*/ `;
}

/** Without the trace id, so that repeated statements of one principal have the same text. */
export function askerComment(label: StatementLabel | undefined): string {
  return label === undefined ? '' : `/*principal='${encode(label.principal)}',tool='${encode(label.tool)}'*/ `;
}

/** Only letters, digits and `-_.~%` are left, so that nothing ends the comment or the value. */
function encode(value: string): string {
  if (/^[\w.~-]{0,200}$/.test(value)) return value;
  const escape = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(value.slice(0, 200).toWellFormed()).replaceAll(/[!'()*]/g, escape);
}
