import type { z } from 'zod';
import type { Scope } from '../issuer/scopes.ts';
import type { Principal } from '../issuer/auth.ts';
import type { Operation } from './instruments.ts';
import type { Logger } from './component.ts';

/** The eight, in the order in which they are listed. */
export const toolNames = [
  'query_otel',
  'get_ingest_config',
  'list_incidents',
  'read_incident',
  'list_chats',
  'read_chat',
  'start_chat',
  'send_chat_reply',
] as const;

export type ToolName = (typeof toolNames)[number];

/** One of the eight tools, or a fixture of the conformance tests: what the MCP layer lists, validates and calls. */
export interface Tool<Input extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  /** For a model choosing a tool; built at start-up where it depends on the warehouse. */
  readonly description: string;
  readonly scope: Scope;
  readonly annotations: ToolAnnotations;
  /** Strict object. Compiled to JSON Schema and to a validator once. */
  readonly input: Input;
  /** Other names models send for an argument: `{ query: 'sql' }`. Taken silently, not listed. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly output: z.ZodType;
  /** For a tool that can be asked for results over 40,000 characters: what a client should show without spilling them. */
  readonly maxResultChars?: number;
  /** The argument that is SQL, which the audit keeps where the config says so. */
  readonly statement?: string;
  /** Capabilities of the client that the tool cannot do without; a caller that did not declare them is refused (-32021). */
  readonly clientCapabilities?: Readonly<Record<string, object>>;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolResult>;
}

export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export interface ToolContext {
  readonly principal: Principal;
  /** Aborted when the caller cancelled or left. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** W3C trace id of the request where it came with one, else its own id. */
  readonly traceId: string;
  readonly logger: Logger;
  /** What this call's queries are recorded under, where anything is. */
  readonly operation?: Operation | undefined;
  /** Bytes of rows that the caller's client is known to show its model, where that is less than a default result. */
  readonly roomBytes?: number | undefined;
  /** Does nothing unless the caller asked for progress. `progress` must rise from call to call. */
  readonly progress: (progress: number, message: string, total?: number) => void;
}

/** Throw a SightlineError for a failure; the MCP layer turns it into an `isError` result with code, hint and retry. */
export interface ToolResult {
  /** JSON text of the structured content, an object. The tool serializes it, so that it happens once. */
  readonly structured: string | AroundRows;
  /** The same in compact text, untrusted parts fenced; rows of it are shown as lines. */
  readonly text: string | AroundRows;
  /** Takes the place of `text` where a result is more than text. */
  readonly content?: readonly ContentBlock[];
  /** For the audit record. */
  readonly facts?: { readonly rows?: number; readonly truncated?: boolean };
}

/** A text with an engine's rows in it (JSON in UTF-8): they go into the answer as bytes, and are never made a string. */
export interface AroundRows {
  readonly before: string;
  readonly rows: Buffer;
  readonly after: string;
}

/** What a client may show: MCP's content blocks. `data` is base64. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly resource: { readonly uri: string; readonly mimeType?: string; readonly text: string };
    };

/** Identity; lets TypeScript infer the input from the schema. */
export function defineTool<Input extends z.ZodType>(tool: Tool<Input>): Tool<Input> {
  return tool;
}
