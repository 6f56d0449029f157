import storagePlugin from '../../plugins/storage-knex/index.ts';
import { z } from 'zod';
import { silentLogger, testHost } from '../contract/host.ts';
import { createInvestigationWorker } from '../../src/incidents/investigation/worker.ts';
import { scriptedAgent } from './scripted-agent.ts';

/** A worker in a process of its own, to be killed: `node worker-process.ts STORE STEPS`, the store as JSON. Says each step it takes. */
const [given = '', steps = '0'] = process.argv.slice(2);
const { config, dataDirectory } = z.object({ config: z.unknown(), dataDirectory: z.string() }).parse(JSON.parse(given));
const storage = storagePlugin.create(storagePlugin.configSchema.parse(config), testHost(dataDirectory));
await storage.start(AbortSignal.timeout(20_000));
createInvestigationWorker({
  storage,
  agent: scriptedAgent({
    steps: Number(steps),
    stepMs: 60,
    onStep: (question) => process.stdout.write(`${question}\n`),
  }),
  logger: silentLogger,
  now: () => new Date(),
  holder: `child ${process.pid}`,
  concurrency: 1,
}).start();
// The worker's own timer does not hold the process.
setInterval(() => {}, 1_000);
