import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { callTool, exchange, post } from '../chaos/client.ts';
import type { Tenant } from '../support/tenants.ts';
import type { Stage } from './stage.ts';

export interface Sent {
  readonly kind: string;
  /** Why it did not do what it was to do. */
  readonly failure: string | undefined;
}

/** Organizations whose telemetry is asked for and sent at a time; another takes the place of one now and then. */
const busy = 12;
const turnEveryMs = 3_000;
/** Before it expires a token is exchanged for another. */
const spareSeconds = 300;
const chat = z.object({ chat_id: z.string() });

/** The mixed load: each request is of the next kind, of an organization whose turn it is. */
export class Mix {
  readonly #stage: Stage;
  readonly #kinds: readonly (() => Promise<Sent>)[];
  readonly #began = performance.now();
  #sent = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
    const [query, list, token, telemetry, page, talk] = [
      () => this.#query(),
      () => this.#tool('list_incidents', this.#any(), { limit: 5 }),
      () => this.#token(),
      () => this.#telemetry(),
      () => this.#page(),
      () => this.#chat(),
    ];
    const twelve = [query, list, token, query, telemetry, list, query, page, token, query, list, telemetry];
    this.#kinds = [...twelve, ...twelve, ...twelve, ...twelve, talk];
  }

  next(): Promise<Sent> {
    this.#sent += 1;
    const kind = this.#kinds[this.#sent % this.#kinds.length];
    if (kind === undefined) throw new Error('there is no such kind');
    // What is not answered at all failed too, and the others go on.
    return kind().catch((error: unknown) => ({ kind: 'unanswered', failure: inspect(error) }));
  }

  #any(): Tenant {
    return this.#tenant(this.#sent * 7);
  }

  #busy(): Tenant {
    const turn = Math.floor((performance.now() - this.#began) / turnEveryMs);
    return this.#tenant(turn + (this.#sent % busy));
  }

  #tenant(index: number): Tenant {
    const { tenants } = this.#stage;
    const tenant = tenants[index % tenants.length];
    if (tenant === undefined) throw new Error('there is no organization');
    return tenant;
  }

  async #tool(name: string, tenant: Tenant, args: object): Promise<Sent> {
    const token = await this.#fresh(tenant, this.#sent % tenant.tokens.length);
    const { structured, status, body } = await callTool(this.#stage.url, token, name, args);
    return { kind: name, failure: structured === undefined ? `${status} ${body.slice(0, 300)}` : undefined };
  }

  /** As a client does, another token once one is about to expire. */
  async #fresh(tenant: Tenant, index: number): Promise<string> {
    const token = tenant.tokens[index] ?? '';
    if (((decodeJwt(token).exp ?? 0) - spareSeconds) * 1_000 > Date.now()) return token;
    const { token: another } = await exchange(this.#stage.url, tenant.key);
    if (another !== undefined) tenant.tokens[index] = another;
    return another ?? token;
  }

  #query(): Promise<Sent> {
    return this.#tool('query_otel', this.#busy(), { sql: 'SELECT count(*) AS n FROM otel.logs' });
  }

  async #token(): Promise<Sent> {
    const tenant = this.#any();
    const { token, status, body } = await exchange(this.#stage.url, tenant.key);
    if (token === undefined) return { kind: 'token', failure: `${status} ${body.slice(0, 300)}` };
    tenant.tokens[this.#sent % tenant.tokens.length] = token;
    return { kind: 'token', failure: undefined };
  }

  async #telemetry(): Promise<Sent> {
    const record = { timeUnixNano: String(BigInt(Date.now()) * 1_000_000n), body: { stringValue: 'soak' } };
    const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record, record, record] }] }] });
    const headers = { 'x-api-key': this.#busy().ingestToken, 'content-type': 'application/json' };
    const { status, body: said } = await post(`${this.#stage.url}/v1/logs`, headers, body);
    return { kind: 'OTLP', failure: status === 200 ? undefined : `${status} ${said.slice(0, 300)}` };
  }

  async #page(): Promise<Sent> {
    const response = await fetch(`${this.#stage.url}/sign-in`, { signal: AbortSignal.timeout(20_000) });
    await response.text();
    return { kind: 'page', failure: response.status === 200 ? undefined : String(response.status) };
  }

  async #chat(): Promise<Sent> {
    const tenant = this.#busy();
    const token = await this.#fresh(tenant, 0);
    const { structured, status, body } = await callTool(this.#stage.url, token, 'start_chat', {
      message: 'How many errors were there in the last hour?',
    });
    const begun = chat.safeParse(structured);
    if (!begun.success) return { kind: 'chat', failure: `${status} ${body.slice(0, 300)}` };
    return {
      ...(await this.#tool('read_chat', tenant, { chat_id: begun.data.chat_id, wait_seconds: 1 })),
      kind: 'chat',
    };
  }
}

/** How many a second so many clients get answered that wait for each answer. */
export async function capacityOf(
  mix: Mix,
  clients: number,
  seconds: number,
  note: (sent: Sent) => void,
): Promise<number> {
  const began = performance.now();
  let answered = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() - began < seconds * 1_000) {
        note(await mix.next());
        answered += 1;
      }
    }),
  );
  return answered / ((performance.now() - began) / 1_000);
}

/** So many a second, until the time is over; resolves when all are answered. */
export async function pace(mix: Mix, perSecond: number, seconds: number, note: (sent: Sent) => void): Promise<void> {
  const began = performance.now();
  const underWay = new Set<Promise<void>>();
  let due = 0;
  while (performance.now() - began < seconds * 1_000) {
    for (const until = ((performance.now() - began) / 1_000) * perSecond; due < until; due += 1) {
      const one = mix
        .next()
        .then(note)
        .finally(() => underWay.delete(one));
      underWay.add(one);
    }
    await sleep(5);
  }
  await Promise.all(underWay);
}
