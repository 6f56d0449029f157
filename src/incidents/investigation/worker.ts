import { Stopped, type ChatId, type Instruments, type IssuerHost, type Logger } from '../../contract/core/index.ts';
import type { Agent } from '../../contract/agent/index.ts';
import type { ClaimedInvestigation, Lease, Workspace, Actor, Chat } from '../../contract/storage/index.ts';
import { budget } from './bounds.ts';
import { BudgetSpent, LeaseLost, runInvestigation } from './run.ts';
import { followIncident } from './incident.ts';

/**
 * Ends what runs, queues or waits in a chat, on whichever gateway that is, and brings its incident up to date. A chat in
 * which nothing does stays as it is.
 */
export async function cancelChat(workspace: Workspace, id: ChatId, actor: Actor, logger: Logger): Promise<Chat> {
  const chat = await workspace.chats.cancel(id, actor);
  // Also if it was cancelled earlier: that process may have died before this step.
  if (chat.incidentId !== undefined && chat.status === 'cancelled') {
    await followIncident(workspace, chat.incidentId, actor, logger).follow();
  }
  return chat;
}

interface InvestigationWorkerDependencies extends Pick<IssuerHost, 'storage' | 'logger' | 'now'> {
  readonly agent: Agent;
  /** Names this worker among all that share the storage. */
  readonly holder: string;
  readonly concurrency: number;
  /** Undefined where nothing is recorded. */
  readonly instruments?: Instruments | undefined;
}

export interface InvestigationWorker {
  start(): void;
  /** Ends what runs and gives it back, so that another worker, or this one after a restart, goes on with it at once. */
  stop(): Promise<void>;
  /** There is work: look now and not at the next poll. */
  wake(): void;
}

const leaseMs = 10_000;
const heartbeatMs = 2_000;
/** Work queued by another process, or left by one that died, is found by looking. */
const pollMs = 3_000;

/** Takes queued investigations one by one under a lease, and runs the agent on them. */
export function createInvestigationWorker(deps: InvestigationWorkerDependencies): InvestigationWorker {
  const { storage, logger, now, holder, concurrency, instruments } = deps;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let poll: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let lookAgain = false;

  const lease = (milliseconds: number): Lease => {
    const time = now();
    return { holder, now: time, until: new Date(time.getTime() + milliseconds) };
  };

  function wake(): void {
    if (poll === undefined || stopping.signal.aborted) return;
    lookAgain = true;
    looking ??= look().finally(() => {
      looking = undefined;
      if (lookAgain) wake();
    });
  }

  async function look(): Promise<void> {
    while (lookAgain && !stopping.signal.aborted) {
      lookAgain = false;
      try {
        while (running.size < concurrency && !stopping.signal.aborted) {
          const claimed = await storage.directory.claimInvestigation(lease(leaseMs));
          if (claimed === undefined) break;
          begin(claimed);
        }
      } catch (error) {
        logger.error({ error }, 'looking for investigations failed; it is tried again at the next poll');
      }
    }
  }

  function begin(claimed: ClaimedInvestigation): void {
    const task = work(claimed)
      .catch((error: unknown) => {
        const about = { investigation: claimed.id, error };
        logger.error(about, 'investigation was interrupted; it is resumed under a new lease');
      })
      .finally(() => {
        running.delete(task);
        wake();
      });
    running.add(task);
  }

  async function work(claimed: ClaimedInvestigation): Promise<void> {
    const workspace = storage.workspace(claimed.organizationId);
    const investigation = await workspace.investigations.get(claimed.id);
    if (investigation?.status !== 'running') return;
    const end = new AbortController();
    const held = async (): Promise<boolean> => storage.directory.renewInvestigation(claimed.id, lease(leaseMs));
    const heart = keepLease(held, () => end.abort(new LeaseLost('the lease was lost')));
    const overtime = setTimeout(() => end.abort(new BudgetSpent()), budget.wallMs);
    const ended = new AbortController();
    const { chatId } = investigation;
    const watching =
      chatId && watchChat(workspace, chatId, claimed, ended.signal, () => end.abort(new LeaseLost('cancelled')));
    const stop = (): void => end.abort(new Stopped('closing'));
    stopping.signal.addEventListener('abort', stop, { once: true });
    if (stopping.signal.aborted) stop();
    const since = performance.now();
    let outcome: Awaited<ReturnType<typeof runInvestigation>>;
    try {
      outcome = await runInvestigation(investigation, { ...deps, workspace, signal: end.signal, held });
    } catch (error) {
      if (error instanceof LeaseLost) {
        logger.info({ investigation: claimed.id }, 'investigation was cancelled or taken over');
        return;
      }
      await heart.stop();
      await storage.directory.renewInvestigation(claimed.id, lease(error instanceof Stopped ? 0 : leaseMs));
      if (!(error instanceof Stopped)) throw error;
    } finally {
      instruments?.investigated(outcome ?? 'given_up', since);
      ended.abort();
      await Promise.all([heart.stop(), watching]);
      clearTimeout(overtime);
      stopping.signal.removeEventListener('abort', stop);
    }
  }

  /** Hears at once that the investigation was cancelled, on whichever gateway; the lease alone would tell in two seconds. */
  async function watchChat(
    { chats, investigations }: Workspace,
    chatId: ChatId,
    { id }: ClaimedInvestigation,
    signal: AbortSignal,
    cancelled: () => void,
  ): Promise<void> {
    try {
      for (let chat = await chats.get(chatId); chat !== undefined && !signal.aborted; chat = await chats.get(chatId)) {
        if ((await investigations.get(id))?.status !== 'running') return cancelled();
        await chats.changed(chatId, chat.updatedAt, signal);
      }
    } catch (error) {
      logger.warn({ error }, 'a chat could not be watched; its cancellation is heard with the lease');
    }
  }

  /** Renews the lease until it is stopped. A store that cannot be reached is tried again until the lease has run out. */
  function keepLease(renew: () => Promise<boolean>, lost: () => void): { stop(): Promise<void> } {
    let beating = Promise.resolve();
    let timer: NodeJS.Timeout | undefined;
    let stopped = false;
    let until = now().getTime() + leaseMs;
    const beat = async (): Promise<void> => {
      try {
        until = (await renew()) ? now().getTime() + leaseMs : 0;
      } catch (error) {
        logger.warn({ error }, 'a lease could not be renewed');
      }
      if (stopped) return;
      if (now().getTime() >= until) lost();
      else arm();
    };
    const arm = (): void => {
      timer = setTimeout(() => {
        beating = beat();
      }, heartbeatMs);
    };
    arm();
    return {
      async stop() {
        stopped = true;
        clearTimeout(timer);
        await beating;
      },
    };
  }

  return {
    start() {
      if (poll !== undefined || stopping.signal.aborted) return;
      poll = setInterval(wake, pollMs).unref();
      wake();
    },
    async stop() {
      stopping.abort();
      clearInterval(poll);
      await looking;
      await Promise.allSettled(running);
    },
    wake,
  };
}
