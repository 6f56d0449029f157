import type { StatementLabel } from '../../src/contract/telemetry/index.ts';

/** Of one value; longer ones are cut. */
const maxLength = 200;

/** Who asks, as a leading comment in the form of sqlcommenter. */
export function labelled(sql: string, label: StatementLabel | undefined): string {
  if (label === undefined) return sql;
  const { principal, tool, traceId } = label;
  return `/*principal=${quoted(principal)},tool=${quoted(tool)},trace_id=${quoted(traceId)}*/ ${sql}`;
}

/** URL-encoded, with what encodeURIComponent leaves of SQL's own signs too: neither the quote nor the comment can end early. */
function quoted(value: string): string {
  const encoded = encodeURIComponent(value.slice(0, maxLength).toWellFormed());
  return `'${encoded.replace(/['*]/g, (sign) => (sign === '*' ? '%2A' : '%27'))}'`;
}
