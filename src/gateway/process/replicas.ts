import { SightlineError, type Component, type Logger } from '../../contract/core/index.ts';
import type { GatewayRepository, RunningGateway } from '../../contract/storage/index.ts';

/** How soon another gateway's start is noticed, and how often this one says that it still serves. */
const lookMs = 5_000;
const announceMs = 30_000;
/** Who said nothing for so long has ended without a word. */
export const goneMs = 90_000;
const settleMs = 1_000;
const forgetMs = 600_000;

/** Whether more than one gateway serves over this storage, asked now. */
export async function severalServe(gateways: Pick<GatewayRepository, 'list'>, now: Date): Promise<boolean> {
  return (await gateways.list(new Date(now.getTime() - goneMs))).length > 1;
}

/** The gateways that share one storage, as one of them knows them. */
export interface Replicas extends Component {
  /** Whether this one was alone when it last looked. */
  readonly alone: boolean;
  /** `work` is done about once a second, never twice at once. It must not reject. */
  settle(work: () => Promise<void>): void;
}

interface ReplicasOptions {
  readonly self: Omit<RunningGateway, 'seenAt'>;
  /** Looked up for each call: storage opens after this is created. */
  readonly gateways: () => GatewayRepository;
  /** Removes what expired of what gateways count together. */
  readonly tidy: (now: Date) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** `start` rejects with `conflict` where another gateway on this storage keeps telemetry in another data directory. */
export function createReplicas({ self, gateways, tidy, now, logger }: ReplicasOptions): Replicas {
  const works: (() => Promise<void>)[] = [];
  const timers: NodeJS.Timeout[] = [];
  const underWay = new Set<Promise<void>>();
  let alone = true;

  const ago = (milliseconds: number): Date => new Date(now().getTime() - milliseconds);

  async function others(): Promise<readonly RunningGateway[]> {
    const seen = await gateways().list(ago(goneMs));
    return seen.filter(({ id }) => id !== self.id);
  }

  async function look(): Promise<void> {
    const found = (await others()).map(({ id, host }) => `${host} (${id})`);
    if (alone !== (found.length === 0)) logger.info({ others: found }, 'the gateways over this storage changed');
    alone = found.length === 0;
  }

  const announce = (): Promise<void> => gateways().announce({ ...self, seenAt: now() });

  async function forget(): Promise<void> {
    await gateways().removeUnseen(ago(forgetMs));
    await tidy(now());
  }

  async function settleAll(): Promise<void> {
    for (const work of works) await work();
  }

  function every(milliseconds: number, work: () => Promise<void>): void {
    let running = false;
    let failing = false;
    /** One failure after another is one line in the log. */
    const attempt = async (): Promise<void> => {
      try {
        await work();
        failing = false;
      } catch (error) {
        if (!failing) logger.warn({ error }, 'the other gateways over this storage cannot be asked after');
        failing = true;
      }
    };
    const timer = setInterval(() => {
      if (running) return;
      running = true;
      const turn = attempt().finally(() => {
        running = false;
        underWay.delete(turn);
      });
      underWay.add(turn);
    }, milliseconds);
    timers.push(timer.unref());
  }

  /** Throws where the telemetry of another one lies elsewhere. */
  async function checkTelemetry(): Promise<void> {
    for (const { host, telemetryIn, seenAt } of await others()) {
      if (telemetryIn === self.telemetryIn) continue;
      const where = `the gateway on ${host}, seen ${Math.round((now().getTime() - seenAt.getTime()) / 1_000)} s ago,`;
      if (telemetryIn === undefined || self.telemetryIn === undefined) {
        logger.warn({ host }, `${where} keeps telemetry elsewhere than this one, so each answers queries differently`);
        continue;
      }
      const message = 'Another gateway over this storage keeps telemetry in a directory of its own.';
      throw new SightlineError('conflict', message, {
        operatorMessage: `Over this storage runs ${where} which keeps telemetry in a data directory of its own: each of the two would take and show a part of it.`,
        hint: `Several gateways need a warehouse (telemetry.plugin: clickhouse, bigquery or postgres). If that one has ended without a word, start again in ${goneMs / 1_000} s.`,
      });
    }
  }

  return {
    get alone() {
      return alone;
    },
    settle: (work) => void works.push(work),
    async start() {
      await announce();
      try {
        await checkTelemetry();
        await look();
      } catch (error) {
        await gateways().remove(self.id);
        throw error;
      }
      every(lookMs, look);
      every(announceMs, announce);
      every(settleMs, settleAll);
      every(forgetMs, forget);
    },
    async stop() {
      const started = timers.length > 0;
      for (const timer of timers.splice(0)) clearInterval(timer);
      await Promise.all(underWay);
      if (started) await gateways().remove(self.id);
    },
    health: async () => ({ ok: true }),
  };
}
