import type { ToolName } from '../contract/core/index.ts';
import { viewHtml } from './view-file.ts';

/** What clients show of the results of these tools. */
export const view = {
  html: viewHtml,
  tools: ['query_otel', 'read_incident', 'read_chat'],
} as const satisfies { readonly html: string; readonly tools: readonly ToolName[] };
