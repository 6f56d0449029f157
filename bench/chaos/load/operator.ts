import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentials, type Credentials } from '../../../test/support/gateway.ts';
import { callTool, exchange } from '../client.ts';
import { runLine, type LoadContext } from './line.ts';

/** Somebody at the command line: makes keys and revokes them, and brings incidents. */
export function operator(context: LoadContext): Promise<void> {
  return runLine(context, 600, async (turn) => {
    if (turn % 3 === 0) return bringIncident(context, turn);
    const key = await makeKey(context, turn);
    if (key === undefined) return;
    const token = await useEverywhere(context, key);
    // Every other key stays, to be looked for at the end.
    if (token !== undefined && turn % 2 === 0) await revoke(context, key, token);
  });
}

async function bringIncident(context: LoadContext, turn: number): Promise<void> {
  const { stage, ledger } = context;
  const title = `incident ${turn}`;
  const file = join(stage.directory, 'incident.json');
  await writeFile(file, JSON.stringify([{ title, severity: 'low', started_at: new Date().toISOString() }]));
  ledger.incidents.sent(title);
  const done = await command(context, 'incident import', ['incident', 'import', file, '--org', stage.organization]);
  if (done !== undefined) ledger.incidents.acknowledged(title);
}

async function makeKey(context: LoadContext, turn: number): Promise<Credentials | undefined> {
  const { stage, ledger } = context;
  const said = await command(context, 'key create', [
    'key',
    'create',
    '--org',
    stage.organization,
    '--name',
    `key ${turn}`,
    '--scopes',
    'all',
  ]);
  if (said === undefined) return undefined;
  const key = credentials.parse(JSON.parse(said));
  ledger.keys.acknowledged(key.client_id);
  return key;
}

/** A new key works at once, at each. */
async function useEverywhere(context: LoadContext, key: Credentials): Promise<string | undefined> {
  const { stage, traffic } = context;
  let last: string | undefined;
  for (const { number: replica, url } of stage.serving()) {
    const from = performance.now();
    const { token, status, body } = await exchange(url, key);
    // It was told to end since it was chosen, and may be back at another address; nobody but a front would have known.
    const now = stage.replicas[replica];
    if (status === 0 && (now === undefined || now.leaving || now.url !== url)) continue;
    const failure = token === undefined ? `${status} ${body.slice(0, 300)}` : undefined;
    traffic.note({ kind: 'new key', replica, from, to: performance.now(), ...(failure !== undefined && { failure }) });
    last = token ?? last;
  }
  return last;
}

/** Refused from the next request on: whoever serves, and whoever is frozen and goes on later. */
async function revoke(context: LoadContext, key: Credentials, token: string): Promise<void> {
  const { stage, ledger } = context;
  ledger.revocations.sent(key.client_id);
  if ((await command(context, 'key revoke', ['key', 'revoke', key.client_id])) === undefined) return;
  ledger.revocations.acknowledged(key.client_id);
  const refusals = stage.running().map(async ({ number, url }) => {
    const called = await callTool(url, token, 'list_incidents', {});
    if (called.status === 200) ledger.broken.push(`replica ${number} took a token of ${key.client_id}, revoked before`);
    const exchanged = await exchange(url, key);
    if (exchanged.token !== undefined)
      ledger.broken.push(`replica ${number} gave ${key.client_id} a token after it was revoked`);
  });
  stage.afterwards(Promise.all(refusals));
}

/** What the command said; undefined where it failed. */
async function command(
  { stage, traffic }: LoadContext,
  kind: string,
  args: readonly string[],
): Promise<string | undefined> {
  const from = performance.now();
  const { code, stdout, stderr } = await stage.command(args);
  const failure = code === 0 ? undefined : `${String(code)} ${stderr.slice(0, 300)}`;
  const to = performance.now();
  traffic.note({ kind, replica: undefined, from, to, ...(failure !== undefined && { failure }) });
  return failure === undefined ? stdout : undefined;
}
