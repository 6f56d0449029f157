import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger, Register } from '../ledger.ts';
import type { Run, Verdict } from './verdict.ts';

type Rows = readonly (readonly unknown[])[];

/** How long telemetry that was acknowledged may take to arrive after the last outage. */
const arriveMs = 45_000;

/** Every acknowledged write is there, and none is there twice. */
export async function writeVerdicts({ stage, ledger }: Run): Promise<readonly Verdict[]> {
  const { store, telemetry } = stage.database;
  const messages = new Map([...ledger.chats.entries, ...ledger.replies.entries]);
  return [
    compare('chats', ledger.chats.entries, await store.admin("SELECT title FROM chats WHERE title LIKE 'chat %'")),
    compare(
      'messages',
      messages,
      await store.admin("SELECT content FROM chat_messages WHERE role = 'user' AND content <> ''"),
    ),
    compare('incidents', ledger.incidents.entries, await store.admin('SELECT title FROM incidents')),
    keys(ledger, await store.admin("SELECT id FROM api_keys WHERE name LIKE 'key %'")),
    await arrived('spans', ledger.spans.entries, () =>
      telemetry("SELECT name FROM telemetry.spans WHERE service_name = 'chaos'"),
    ),
    await arrived('logs', ledger.logs.entries, () =>
      telemetry("SELECT body FROM telemetry.logs WHERE service_name = 'chaos'"),
    ),
  ];
}

function compare(what: string, sent: Register, rows: Rows): Verdict {
  const found = new Map<string, number>();
  for (const [name] of rows) found.set(String(name), (found.get(String(name)) ?? 0) + 1);
  const acknowledged = [...sent].filter(([, entry]) => entry.acknowledged);
  return {
    promise: `${what}: none lost, none doubled`,
    looked: `${acknowledged.length} acknowledged of ${sent.size}`,
    evidence: [
      ...acknowledged
        .filter(([name]) => !found.has(name))
        .map(
          ([name, { at, replica }]) =>
            `${name} is lost: acknowledged by replica ${replica ?? '?'} at ${at.toFixed(0)} ms`,
        ),
      ...[...found].filter(([, count]) => count > 1).map(([name, count]) => `${name} is there ${count} times`),
      ...[...found.keys()].filter((name) => !sent.has(name)).map((name) => `${name} was never sent`),
    ],
  };
}

async function arrived(what: string, sent: Register, look: () => Promise<Rows>): Promise<Verdict> {
  const since = performance.now();
  for (;;) {
    const verdict = compare(what, sent, await look());
    if (verdict.evidence.length === 0 || performance.now() - since > arriveMs) return verdict;
    await sleep(500);
  }
}

function keys({ keys: made, revocations }: Ledger, rows: Rows): Verdict {
  const found = new Set(rows.map(([id]) => String(id)));
  const gone = [...revocations.entries].filter(([, { acknowledged }]) => acknowledged).map(([id]) => id);
  const kept = [...made.entries.keys()].filter((id) => !revocations.entries.has(id));
  return {
    promise: 'keys: each made one is there, each revoked one is not',
    looked: `${made.entries.size} made, ${gone.length} revoked`,
    evidence: [
      ...kept.filter((id) => !found.has(id)).map((id) => `${id} was made and is lost`),
      ...gone.filter((id) => found.has(id)).map((id) => `${id} was revoked and is there`),
    ],
  };
}
