import type { StatementLabel } from '../../src/contract/telemetry/index.ts';

/** Who asked, as labels of a job; the warehouse's owner finds them beside what it cost. */
export function jobLabels(
  configured: Readonly<Record<string, string>>,
  label: StatementLabel | undefined,
): Readonly<Record<string, string>> {
  return {
    ...configured,
    sightline: 'query',
    ...(label && {
      sightline_principal: labelValue(label.principal),
      sightline_tool: labelValue(label.tool),
      sightline_trace: labelValue(label.traceId),
    }),
  };
}

/** All that a label's value may hold. */
function labelValue(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, 63);
}
