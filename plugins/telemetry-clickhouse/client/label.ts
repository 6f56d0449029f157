import type { StatementLabel } from '../../../src/contract/index.ts';

/** For `log_comment`: in system.query_log and system.processes, to be read with JSONExtract. */
export function labelJson({ principal, tool, traceId }: StatementLabel): string {
  return JSON.stringify({ principal, tool, trace_id: traceId });
}

/** Before the statement, as sqlcommenter writes it: nothing in it can end the comment. */
export function labelComment({ principal, tool, traceId }: StatementLabel): string {
  const encoded = (text: string) =>
    encodeURIComponent(text.toWellFormed()).replaceAll(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return `/*principal='${encoded(principal)}',tool='${encoded(tool)}',trace_id='${encoded(traceId)}'*/ `;
}
