import cluster from 'node:cluster';
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { keepHeapSmall } from '../gateway/workers/primary.ts';
import type { Settings } from '../gateway/wiring/settings.ts';
import type { Gateway } from '../gateway/wiring/gateway.ts';
import { SightlineError } from '../contract/core/index.ts';
import { act, type Register } from './command.ts';
import { greetNewcomer } from './first-start.ts';
import { Exit, exitCodeOf } from './exit.ts';
import type { Output } from './output.ts';

const stopSignals = ['SIGTERM', 'SIGINT'] as const;
const mostWorkers = 64;

export const register: Register = (program, output, summary) => {
  const command = program
    .command('serve')
    .description(`${summary}; the first start makes an organization, an API key and demo data`)
    .option('--no-demo', 'start an empty workspace')
    .option('--workers <n>', 'processes that serve requests, for machines with several processors', workerCount, 1);
  act(command, output, z.object({ demo: z.boolean(), workers: z.number() }), async ({ settings, options }) => {
    const { demo, workers } = options;
    keepHeapSmall();
    if (cluster.isWorker) await serveAsWorker(settings, output, demo);
    else if (workers > 1) await serveWithWorkers(settings, output, workers);
    else await serveAlone(settings, output, demo);
  });
};

async function serveAlone(settings: Settings, output: Output, demo: boolean): Promise<void> {
  const stopping = new AbortController();
  const stopped = untilStopped(stopping);
  const { createGateway } = await import('../gateway/wiring/gateway.ts');
  const gateway = await createGateway(settings);
  try {
    await gateway.start();
    reloadOnHangup(gateway);
    announce(gateway, output, 1);
    greet(gateway, output, { settings, demo, signal: stopping.signal });
    await stopped;
    sayStopping(output);
  } finally {
    await Promise.race([gateway.stop(), forced()]);
  }
}

async function serveWithWorkers(settings: Settings, output: Output, workers: number): Promise<void> {
  const stopped = untilStopped(new AbortController());
  const { createPrimary, WorkerFailed } = await import('../gateway/workers/primary.ts');
  const primary = await createPrimary(settings, workers);
  // From the start on: without a handler the signal would end the process.
  process.on('SIGUSR2', () => void primary.restart());
  reloadOnHangup(primary);
  try {
    await primary.start();
    announce(primary, output, workers);
    primary.greet();
    await stopped;
    sayStopping(output);
  } catch (error) {
    // The worker has said why.
    throw error instanceof WorkerFailed ? new Exit(error.code ?? exitCodeOf('internal')) : error;
  } finally {
    await Promise.race([primary.stop(), forced()]).catch((error: unknown) => {
      primary.kill();
      throw error;
    });
  }
}

/** What the primary asks for is done; a signal to this process alone is as if the primary had asked for its replacement. */
async function serveAsWorker(settings: Settings, output: Output, demo: boolean): Promise<void> {
  const stopping = new AbortController();
  const { createGateway } = await import('../gateway/wiring/gateway.ts');
  const { takeSeat } = await import('../gateway/workers/seat.ts');
  const seat = takeSeat();
  const gateway = await createGateway(settings, seat);
  const { promise: asked, resolve: ask } = Promise.withResolvers<'stop' | 'retire'>();
  // The terminal's Ctrl-C reaches all processes, and the primary sees to it.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  process.on('SIGTERM', () => ask('retire'));
  try {
    await gateway.start();
    seat.orders((order) => {
      if (order === 'greet') greet(gateway, output, { settings, demo, signal: stopping.signal });
      else if (order === 'reload') void gateway.reload();
      else ask(order);
    });
    const how = await asked;
    stopping.abort();
    await gateway[how]();
  } finally {
    await gateway.stop();
  }
}

function announce(
  served: Pick<Gateway, 'url' | 'dataDirectory' | 'configFile'>,
  output: Output,
  workers: number,
): void {
  const several = workers > 1 ? { workers } : {};
  output.result(
    { url: served.url, mcp: `${served.url}/mcp`, data: served.dataDirectory, pid: process.pid, ...several },
    () => {
      const config = served.configFile ?? 'no config file, so an embedded workspace with defaults';
      return [
        `${output.style('bold', 'Sightline')} listens at ${output.style('cyan', `${served.url}/mcp`)}`,
        `  data    ${served.dataDirectory}`,
        `  config  ${config}`,
        ...(workers > 1 ? [`  workers ${workers}`] : []),
      ].join('\n');
    },
  );
}

/** What is for the first start; a gateway that serves is not stopped because of it. */
function greet(gateway: Gateway, output: Output, how: Parameters<typeof greetNewcomer>[2]): void {
  greetNewcomer(gateway, output, how).catch((error: unknown) => {
    if (how.signal.aborted) return;
    const why = error instanceof SightlineError ? [error.message, error.hint].join(' ') : String(error);
    output.warn(`The workspace could not be set up in full: ${why}`);
  });
}

function sayStopping(output: Output): void {
  output.say('Stopping: requests in flight are finished; once more to stop at once.');
}

/** On a terminal the signal means that it is gone, and ends the process as it would without us. */
function reloadOnHangup(served: { reload(): Promise<void> }): void {
  if (!process.stdin.isTTY) process.on('SIGHUP', () => void served.reload());
}

/** Resolves at the first signal that asks the process to end. */
function untilStopped(stopping: AbortController): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of stopSignals) {
      process.once(signal, () => {
        stopping.abort();
        resolve();
      });
    }
  });
}

/** Rejects at the second signal: its sender does not want to wait. */
function forced(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of stopSignals) {
      process.once(signal, () => reject(new Exit(130)));
    }
  });
}

function workerCount(value: string): number {
  const number = Number(value);
  if (!/^\d{1,2}$/.test(value) || number < 1 || number > mostWorkers)
    throw new InvalidArgumentError(`Workers are 1 to ${mostWorkers}.`);
  return number;
}
