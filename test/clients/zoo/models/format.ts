import type { ServerResponse } from 'node:http';

/** What a client tells the model in one request, in no provider's words. */
export interface Told {
  readonly tools: readonly ToldTool[];
  /** Names of the tools that the model has called so far. */
  readonly calls: readonly string[];
  /** What their results held, as text. */
  readonly results: readonly string[];
  readonly stream: boolean;
}

export interface ToldTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  /** Of a tool in a namespace, as the Responses API has them. */
  readonly namespace?: string;
}

/** What the model answers: one call, or words that end its turn. */
export type Said =
  | { readonly call: { readonly tool: ToldTool; readonly input: Readonly<Record<string, unknown>> } }
  | { readonly text: string };

/** A model API as clients speak it. */
export interface Format {
  readonly path: RegExp;
  read(body: unknown, path: string): Told;
  /** @param id that no other answer has. */
  write(response: ServerResponse, said: Said, how: { readonly id: string; readonly stream: boolean }): void;
}

/** Every text in a value, keys aside. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

export function textOf(value: unknown): string {
  return textsIn(value).join('\n');
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Server-sent events; an event's name is its `type` where it has one and the API names events. */
export function sendEvents(
  response: ServerResponse,
  events: readonly object[],
  { named = false, done = false } = {},
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) {
    const name = named && 'type' in event ? `event: ${String(event.type)}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(done ? 'data: [DONE]\n\n' : '');
}
