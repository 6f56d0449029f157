import { claudeCode } from './claude-code.ts';
import { vsCode } from './vs-code.ts';

/**
 * Documents of clients that many people use, by URL. Their hosts refuse some clouds' addresses, and some gateways reach
 * nothing outside; the copy is used only while the document itself cannot be had.
 */
export const wellKnownDocuments: ReadonlyMap<string, unknown> = new Map<string, unknown>(
  [claudeCode, vsCode].map((document) => [document.client_id, document]),
);
