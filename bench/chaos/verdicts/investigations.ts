import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../database.ts';
import type { Run, Verdict } from './verdict.ts';

/** How long what was queued may take after the last outage. */
const endMs = 90_000;

const signed = z.object({ observation: z.string() });
const concluded = z.object({ root_cause: z.string() });

/** Each investigation ends, once, and concludes from the very steps that are stored (see agent.ts). */
export async function investigationVerdict({ stage: { database } }: Run): Promise<Verdict> {
  const since = performance.now();
  while ((await open(database)) > 0 && performance.now() - since < endMs) await sleep(500);
  const investigations = await database.store.admin(
    'SELECT id, chat_id, status, conclusion, failure FROM investigations',
  );
  const steps = await stepsOf(database);
  const answers = await answersOf(database);
  const evidence: string[] = [];
  const completed = new Map<string, number>();
  for (const [id, chat, status, conclusion, failure] of investigations) {
    if (status !== 'completed') {
      evidence.push(`${String(id)} is ${String(status)}: ${String(failure)}`);
      continue;
    }
    completed.set(String(chat), (completed.get(String(chat)) ?? 0) + 1);
    const given = concluded.parse(JSON.parse(String(conclusion))).root_cause;
    const stored = (steps.get(String(id)) ?? []).join(' ');
    if (given !== stored)
      evidence.push(`${String(id)} concludes from steps of the runs ${given}; stored are those of ${stored}`);
  }
  for (const [chat, count] of completed) {
    const said = answers.get(chat) ?? 0;
    if (said !== count) evidence.push(`${chat} has ${said} answers to ${count} investigations`);
  }
  const interrupted = [...steps.values()].filter((runs) => new Set(runs).size > 1).length;
  return {
    promise: 'investigations: each ends, once, on the steps that are stored',
    looked: `${investigations.length}, of which ${interrupted} changed hands`,
    evidence,
  };
}

async function open({ store }: Database): Promise<number> {
  const [row] = await store.admin("SELECT count(*) FROM investigations WHERE status IN ('queued', 'running')");
  return Number(row?.[0]);
}

/** The signatures by investigation, in the order of the steps. */
async function stepsOf({ store }: Database): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  const rows = await store.admin(
    'SELECT investigation_id, step FROM investigation_steps ORDER BY investigation_id, seq',
  );
  for (const [id, step] of rows) {
    const runs = found.get(String(id)) ?? [];
    runs.push(signed.parse(JSON.parse(String(step))).observation);
    found.set(String(id), runs);
  }
  return found;
}

async function answersOf({ store }: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await store.admin("SELECT chat_id, count(*) FROM chat_messages WHERE role = 'agent' GROUP BY chat_id");
  return new Map(rows.map(([chat, count]) => [String(chat), Number(count)]));
}
