import type { z } from 'zod';
import { isErrorCode, parseJson, SightlineError } from '../contract/core/index.ts';
import { placesOf, routeOf } from '../gateway/admin/index.ts';
import { failureShape, type Operation } from '../gateway/admin/operation.ts';

export type Progress = (fraction: number) => void;

/** How operations are reached: on the storage of this machine, or on a gateway elsewhere. */
export interface Way {
  readonly send: (
    operation: Operation,
    input: object,
    organization?: string,
    onProgress?: Progress,
  ) => Promise<unknown>;
  /** Of an operation that answers lines. `write` gets them whole or in parts. */
  readonly stream: <Input extends z.ZodObject>(
    operation: Operation<Input>,
    input: z.input<Input>,
    write: (text: string) => Promise<void>,
    onProgress?: Progress,
  ) => Promise<void>;
}

const longestAnswerMs = 60_000;

/**
 * The operations on a gateway elsewhere, through its admin interface.
 * @param gateway its {publicUrl}.
 */
export function overHttp(gateway: string, token: string | undefined): Way {
  const base = URL.parse(gateway);
  if (base === null || !isSafe(base)) {
    throw new SightlineError('invalid_argument', '--url is no address of a gateway that a secret may be sent to.', {
      hint: 'Give its publicUrl with https; http is for this machine alone.',
    });
  }
  if (token === undefined) {
    throw new SightlineError('invalid_argument', '--url needs an admin key.', {
      hint: 'Set SIGHTLINE_ADMIN_KEY, or give --token. On its machine: sightline admin-key create',
    });
  }
  const silent = (cause: unknown): never => {
    throw new SightlineError('unavailable', `The gateway at ${base.origin} does not answer.`, { cause });
  };
  /** @param signal ends the wait for the answer, and for its body. */
  async function ask(operation: Operation, input: object, signal: AbortSignal): Promise<Response> {
    const values = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
    let path = routeOf(operation);
    for (const name of placesOf(path)) {
      path = path.replace(`{${name}}`, encodeURIComponent(String(values.get(name))));
      values.delete(name);
    }
    const hasBody = operation.method === 'post' && values.size > 0;
    const query = new URLSearchParams();
    if (!hasBody) for (const [name, value] of values) query.set(name, String(value));
    const asked = query.size === 0 ? path : `${path}?${query.toString()}`;
    const response = await fetch(`${base?.href.replace(/\/$/, '')}/admin/v1${asked}`, {
      method: operation.method.toUpperCase(),
      headers: { authorization: `Bearer ${token}`, ...(hasBody && { 'content-type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(Object.fromEntries(values)) }),
      redirect: 'error',
      signal,
    }).catch(silent);
    if (response.ok) return response;
    throw failureOf(parseJson(await response.text()), base?.origin ?? '', response.status);
  }
  return {
    async send(operation, input, organization) {
      const own = organization === undefined ? input : { ...input, organization };
      return parseJson(await (await ask(operation, own, AbortSignal.timeout(longestAnswerMs))).text());
    },
    async stream(operation, input, write) {
      const waiting = new AbortController();
      // For the headers alone: an audit may be large.
      const timer = setTimeout(() => waiting.abort(), longestAnswerMs);
      const { body } = await ask(operation, input, waiting.signal).finally(() => clearTimeout(timer));
      if (body === null) return;
      const parts = body.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
      for (;;) {
        const part = await parts.next().catch((cause: unknown) => {
          throw new SightlineError('unavailable', `The answer of ${base.origin} was cut off.`, { cause });
        });
        if (part.done === true) return;
        await write(part.value);
      }
    },
  };
}

function isSafe({ protocol, hostname, username, search, hash }: URL): boolean {
  if (username !== '' || search !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname));
}

function failureOf(answer: unknown, origin: string, status: number): SightlineError {
  const parsed = failureShape.safeParse(answer);
  if (!parsed.success)
    return new SightlineError('unavailable', `${origin} answered ${status}, which is no gateway's answer.`);
  const { code, message, hint } = parsed.data.error;
  return new SightlineError(isErrorCode(code) ? code : 'internal', message, hint === undefined ? {} : { hint });
}
