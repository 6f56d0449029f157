import { z } from 'zod';
import { connectionTrouble, reasons, SightlineError, Stopped, type Reason } from '../../contract/core/index.ts';

const check = 'Check user and password, and from where the server lets them in.';

/** Codes of the warehouses: PostgreSQL's SQLSTATE, ClickHouse's numbers. */
const refusals = reasons({
  '28P01 28000 192 193 194 516': ['user or password are not right', check],
  '3D000 81': ['there is no such database', 'Check its name.'],
  '53300 202': ['the server has too many connections', 'Try again in a moment.'],
});

const noTls: Reason = [
  'the server speaks no TLS there',
  'Give the port that does, or leave TLS out (http://, no ssl).',
];

const stranger: Reason = ['something answers that is no warehouse', 'Check host and port, and what stands between.'];

/** By the words of what went wrong: drivers and TLS give no code for these, or one for many. */
const byWords: readonly (readonly [RegExp, Reason])[] = [
  [/wrong version number|packet length too long|does not support SSL/i, noTls],
  [/password authentication failed|SASL|must be a string/, ['user or password are not right', check]],
  [
    /^HTTP \d+: \s*(?:<!doctype|<html)|Unexpected token '<'/i,
    ['a web page answers, and no warehouse', 'Check host and port, and what stands between.'],
  ],
  [/^HTTP \d+:/, stranger],
  [
    /socket hang up|Connection terminated|ECONNRESET/,
    ['the connection is closed at once', 'Where the server wants TLS, write https:// or ssl: true.'],
  ],
  [/timeout|timed out/i, ['the server does not answer', 'Check host and port, and the network.']],
];

const section = z.looseObject({
  url: z.union([z.string(), z.array(z.string())]).optional(),
  host: z.string().optional(),
  port: z.coerce.number().optional(),
  apiEndpoint: z.string().optional(),
});

/**
 * Why the warehouse cannot be asked, in one sentence with its host and port; undefined for what is no trouble with the
 * connection. @param telemetry the section of the config; @param url in place of its own.
 */
export function warehouseTrouble(error: unknown, telemetry: unknown, url?: string): SightlineError | undefined {
  const reason = reasonOf(error);
  if (reason === undefined) return undefined;
  const [why, hint] = reason;
  const message = `The warehouse${placeOf(telemetry, url)} cannot be used: ${why}.`;
  return new SightlineError('unavailable', message, { ...(hint !== undefined && { hint }), cause: error });
}

function reasonOf(error: unknown): Reason | undefined {
  const chain: unknown[] = [];
  // Several addresses were tried: the last says why.
  for (let at = error; typeof at === 'object' && at !== null && chain.length < 8;) {
    chain.push(at);
    at = Reflect.get(at, 'cause') ?? (at instanceof AggregateError ? at.errors.at(-1) : undefined);
  }
  for (const each of chain) {
    if (!(each instanceof Error) || each instanceof SightlineError) continue;
    if (Number(Reflect.get(each, 'status')) >= 500) return stranger;
    const code = String(Reflect.get(each, 'code') ?? '');
    const said = byWords.find(([words]) => words.test(each.message))?.[1];
    const known =
      refusals.get(code) ?? (code === 'ECONNRESET' ? said : undefined) ?? connectionTrouble.get(code) ?? said;
    if (known !== undefined) return known;
    if (each instanceof Stopped && each.reason === 'timeout') return connectionTrouble.get('ETIMEDOUT');
  }
  return undefined;
}

const usualPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** ` at HOST:PORT`, never user or password. */
function placeOf(telemetry: unknown, url: string | undefined): string {
  const { data = {} } = section.safeParse(telemetry);
  const { host, port, apiEndpoint } = data;
  const written = url ?? [data.url ?? apiEndpoint ?? []].flat()[0];
  const parsed = written !== undefined && URL.canParse(written) ? new URL(written) : undefined;
  if (parsed !== undefined) return ` at ${parsed.hostname}:${parsed.port || (usualPorts[parsed.protocol] ?? 5432)}`;
  return host === undefined ? '' : ` at ${host}:${port ?? 5432}`;
}
