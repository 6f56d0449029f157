import { z } from 'zod';
import { SightlineError } from '../contract/index.ts';
import { act } from './command.ts';
import type { Register } from './command.ts';
import { greetNewcomer } from './first-start.ts';
import { Exit } from './exit.ts';

/** Not SIGHUP: a handler would undo the nohup a gateway was started with. */
const stopSignals = ['SIGTERM', 'SIGINT'] as const;

export const register: Register = (program, output, summary) => {
  const command = program
    .command('serve')
    .description(`${summary}; the first start makes an organization, an API key and demo data`)
    .option('--no-demo', 'start an empty workspace');
  act(command, output, z.object({ demo: z.boolean() }), async ({ settings, options }) => {
    const stopping = new AbortController();
    const stopped = untilStopped(stopping);
    const { createGateway } = await import('../app/gateway.ts');
    const gateway = await createGateway(settings);
    try {
      await gateway.start();
      output.result(
        { url: gateway.url, mcp: `${gateway.url}/mcp`, data: gateway.dataDirectory, pid: process.pid },
        () => {
          const config = gateway.configFile ?? 'no config file, so an embedded workspace with defaults';
          return [
            `${output.style('bold', 'Sightline')} listens at ${output.style('cyan', `${gateway.url}/mcp`)}`,
            `  data    ${gateway.dataDirectory}`,
            `  config  ${config}`,
          ].join('\n');
        },
      );
      // What follows is for the first start; a gateway that serves is not stopped because of it.
      greetNewcomer(gateway, output, { demo: options.demo, signal: stopping.signal }).catch((error: unknown) => {
        if (stopping.signal.aborted) return;
        const why = error instanceof SightlineError ? [error.message, error.hint].join(' ') : String(error);
        output.warn(`The workspace could not be set up in full: ${why}`);
      });
      await stopped;
      output.say('Stopping: requests in flight are finished; once more to stop at once.');
    } finally {
      await Promise.race([gateway.stop(), forced()]);
    }
  });
};

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

/** Rejects at the next signal: whoever sends a second one does not want to wait. */
function forced(): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const signal of stopSignals) {
      process.once(signal, () => reject(new Exit(130)));
    }
  });
}
