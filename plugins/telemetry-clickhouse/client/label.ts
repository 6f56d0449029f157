import type { StatementLabel } from '../../../src/contract/telemetry/index.ts';

/** It travels in the URL, which has its bounds. */
const longest = 200;

/** For `log_comment`: in system.query_log and system.processes, to be read with JSONExtract. */
export function labelJson({ principal, tool, traceId }: StatementLabel): string {
  return JSON.stringify({ principal: short(principal), tool: short(tool), trace_id: short(traceId) });
}

/** Before the statement, as sqlcommenter writes it: nothing in it can end the comment. */
export function labelComment({ principal, tool, traceId }: StatementLabel): string {
  const encoded = (text: string) =>
    encodeURIComponent(short(text)).replaceAll(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return `/*principal='${encoded(principal)}',tool='${encoded(tool)}',trace_id='${encoded(traceId)}'*/ `;
}

function short(text: string): string {
  return text.slice(0, longest).toWellFormed();
}
