import { z } from 'zod';
import { headersFor, requestOf } from '../../test/support/workers.ts';
import type { Credentials } from '../../test/support/gateway.ts';
import { replicaHeader } from './front.ts';

export interface Answer {
  /** 0 when the connection was lost or nobody answered. */
  readonly status: number;
  readonly body: string;
  readonly replica: number | undefined;
}

const patienceMs = 20_000;

export async function post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<Answer> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(patienceMs) });
    const replica = response.headers.get(replicaHeader);
    return {
      status: response.status,
      body: await response.text(),
      replica: replica === null ? undefined : Number(replica),
    };
  } catch (error) {
    return { status: 0, body: String(error instanceof Error ? (error.cause ?? error) : error), replica: undefined };
  }
}

const envelope = z.object({
  result: z.object({ isError: z.boolean().optional(), structuredContent: z.unknown().optional() }).optional(),
});

export interface Called extends Answer {
  /** What the tool answered; undefined where it failed. */
  readonly structured: unknown;
}

export async function callTool(url: string, token: string, name: string, args: object): Promise<Called> {
  const answer = await post(`${url}/mcp`, headersFor(token), requestOf(1, name, args));
  const { result } = answer.status === 200 ? envelope.parse(JSON.parse(answer.body)) : { result: undefined };
  return { ...answer, structured: result?.isError === true ? undefined : result?.structuredContent };
}

const tokenAnswer = z.object({ access_token: z.string() });

/** The token is undefined where none was given out. */
export async function exchange(
  url: string,
  { client_id, client_secret }: Credentials,
): Promise<Answer & { readonly token: string | undefined }> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret }).toString();
  const answer = await post(`${url}/oauth2/token`, { 'content-type': 'application/x-www-form-urlencoded' }, body);
  return {
    ...answer,
    token: answer.status === 200 ? tokenAnswer.parse(JSON.parse(answer.body)).access_token : undefined,
  };
}
