import { setTimeout as sleep } from 'node:timers/promises';
import { SightlineError } from '../contract/core/index.ts';
import type { ToolContext } from '../contract/core/index.ts';
import type { Chat, Workspace } from '../contract/storage/index.ts';

/** How often a caller who asked for progress hears something. */
const progressEveryMs = 1_000;
/** Between two looks at a chat whose store says "may have changed" at once. */
const shortestLookMs = 100;

/**
 * The long poll of `read_chat`: resolves when the agent has answered, asked or given up, when a message has come, or after
 * `seconds`. Rejects with query_cancelled when the caller leaves.
 */
export async function waitForAnswer(
  workspace: Workspace,
  chat: Chat,
  seconds: number,
  { signal, progress }: Pick<ToolContext, 'signal' | 'progress'>,
): Promise<Chat> {
  const begun = Date.now();
  const deadline = begun + seconds * 1_000;
  let current = chat;
  let reported = 0;
  for (;;) {
    if (signal.aborted) throw new SightlineError('query_cancelled', 'The call was cancelled.');
    const left = deadline - Date.now();
    if (current.status !== 'running' || current.lastSeq > chat.lastSeq || left <= 0) return current;
    const look = AbortSignal.any([signal, AbortSignal.timeout(Math.min(left, progressEveryMs))]);
    await workspace.chats.changed(chat.id, current.updatedAt, look);
    const next = await workspace.chats.get(chat.id);
    if (next === undefined) return current;
    if (next.updatedAt.getTime() === current.updatedAt.getTime() && !look.aborted) await sleep(shortestLookMs);
    current = next;
    const elapsed = Math.min(seconds, (Date.now() - begun) / 1_000);
    if (elapsed > reported) progress(elapsed, await describeWork(workspace, current), seconds);
    reported = Math.max(reported, elapsed);
  }
}

async function describeWork(workspace: Workspace, chat: Chat): Promise<string> {
  const [investigation] = await workspace.investigations.ofChat(chat.id);
  if (investigation === undefined || investigation.status === 'queued') return 'Waiting for the agent to begin';
  if (investigation.doing !== undefined) return investigation.doing;
  const steps = await workspace.investigations.steps(investigation.id);
  return `The agent has taken ${steps.length} steps`;
}
