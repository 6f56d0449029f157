import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/lab/demo/random.ts';
import type { Outages } from './outages.ts';
import type { Replica } from './replica.ts';
import { leaveSeconds, spared, type Stage } from './stage.ts';

/** The lease of an investigation is 10 s; whoever is frozen for longer has lost all its own. */
const frozenSeconds = [11.5, 13] as const;
/** What an outage is called that is the front's own. */
export const unnoticed = 'SIGTERM, noticed too late by the front';
export interface FaultContext {
  readonly stage: Stage;
  readonly outages: Outages;
  readonly random: Random;
  /** See speed.ts. */
  readonly speedJudged: boolean;
  /** Promises that were seen broken. */
  readonly broken: string[];
  /** Milliseconds from an outage's end until all replicas that run are ready, by fault. */
  readonly recoveries: Map<string, number[]>;
}

interface Fault {
  readonly name: string;
  run(context: FaultContext): Promise<void>;
}

/** One that may be ended, and is not frozen. */
const mortal = ({ stage, outages, random }: FaultContext): Replica => {
  const candidates = stage.replicas.filter(({ number }) => number !== spared && !outages.now.has(number));
  const replica = candidates[random.integer(0, candidates.length - 1)];
  if (replica === undefined) throw new Error('there is no such replica');
  return replica;
};

export const frozen: Fault = {
  name: 'frozen gateway, 12 s',
  async run({ stage, outages, random }) {
    const replica = stage.replicas[random.integer(0, spared)];
    if (replica === undefined) return;
    const over = outages.begin(this.name, replica.number);
    replica.freeze();
    await sleep(random.between(...frozenSeconds) * 1_000);
    replica.thaw();
    await stage.untilServing([replica.number]);
    over();
  },
};

/** Each ends what it began. One after the other. */
export const faults: readonly Fault[] = [
  {
    name: 'kill -9 of a gateway',
    async run(context) {
      const { stage, outages, random } = context;
      const replica = mortal(context);
      const over = outages.begin(this.name, replica.number);
      await replica.kill();
      await sleep(random.between(0, 1_000));
      await replica.start();
      await stage.untilServing([replica.number]);
      over();
    },
  },
  {
    name: 'SIGTERM of a gateway',
    async run(context) {
      const { stage, outages, broken } = context;
      const replica = mortal(context);
      const from = performance.now();
      const ended = replica.stop();
      const noticed = await stage.untilLeft(replica.number);
      const code = await ended;
      // The documentation excepts a proxy that takes longer to notice.
      if (noticed > leaveSeconds * 1_000) {
        outages.record({ what: unnoticed, of: replica.number, from, to: from + noticed });
      }
      if (code !== 0) broken.push(`replica ${replica.number} ended with ${String(code)} after SIGTERM`);
      await replica.start();
      await stage.untilServing([replica.number]);
    },
  },
  {
    name: 'database restart, in order',
    run: (context) => withoutDatabase(context, 'database restart, in order', () => context.stage.database.halt()),
  },
  {
    name: 'database restart, at once',
    run: (context) => withoutDatabase(context, 'database restart, at once', () => context.stage.database.crash()),
  },
  {
    name: 'connections cut',
    async run(context) {
      const over = context.outages.begin(this.name, 'all');
      await context.stage.database.cut();
      await recovered(context, this.name, over);
    },
  },
  {
    name: 'connections taken by a stranger',
    async run(context) {
      const { stage, outages, random } = context;
      const over = outages.begin(this.name, 'all');
      const leave = await stage.database.occupy();
      // Those that the gateways had go to the stranger too.
      await stage.database.cut();
      await sleep(random.between(1_000, 3_000));
      await leave();
      await recovered(context, this.name, over);
    },
  },
];

async function withoutDatabase(context: FaultContext, name: string, end: () => Promise<void>): Promise<void> {
  const over = context.outages.begin(name, 'all');
  await end();
  const { random } = context;
  // Now and then longer than requests wait for a connection.
  await sleep(random.chance(0.2) ? random.between(10_000, 13_000) : random.between(300, 2_500));
  await context.stage.database.restart();
  await recovered(context, name, over);
}

async function recovered(
  { stage, outages, recoveries, speedJudged }: FaultContext,
  name: string,
  over: () => void,
): Promise<void> {
  if (speedJudged) over();
  const well = stage.running().flatMap(({ number }) => (outages.now.has(number) ? [] : [number]));
  const took = await stage.untilServing(well);
  if (!speedJudged) over();
  recoveries.set(name, [...(recoveries.get(name) ?? []), took]);
}
