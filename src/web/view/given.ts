import { isObject, parseJson } from '../../contract/core/json.ts';

/* Results come from a host, and their texts from strangers: what is missing or of another kind counts as empty. */

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function texts(value: unknown): readonly string[] {
  return list(value).map(text);
}

export interface Answer {
  /** Undefined for an answer without one, and where the call failed. */
  readonly structured: Fields | undefined;
  /** The text form, or what a failed call says. */
  readonly said: string;
  readonly failed: boolean;
}

/** A `CallToolResult`. */
export function answerOf(result: Fields): Answer {
  const said = list(result['content'])
    .map((block) => text(fields(block)['text']))
    .filter((part) => part !== '')
    .join('\n');
  if (result['isError'] === true) return { structured: undefined, said: failureOf(said), failed: true };
  const structured = result['structuredContent'];
  return { structured: isObject(structured) ? structured : undefined, said, failed: false };
}

/** Errors of ours are JSON with a message and a hint. */
function failureOf(said: string): string {
  const { message, hint } = fields(parseJson(said));
  return [text(message), text(hint)].filter((part) => part !== '').join(' ') || said || 'The call failed.';
}
