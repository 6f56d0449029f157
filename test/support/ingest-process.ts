import { createServer } from 'node:http';
import { createTelemetry } from '../../plugins/telemetry-duckdb/support/harness.ts';
import { silentLogger } from '../contract/host.ts';
import { hashSecret, newId, toId } from '../../src/contract/core/index.ts';
import { createOtlpReceiver } from '../../src/telemetry/ingest/receiver.ts';
import { listen } from './listen.ts';

/** Receiver and embedded warehouse as a process that can be killed. Arguments: data directory, organization, ingest token. */

const [dataDirectory = '', organization = '', token = ''] = process.argv.slice(2);
const organizationId = toId('org', organization);
const telemetry = createTelemetry(dataDirectory);
const signal = new AbortController().signal;
await telemetry.start(signal);
const receiver = createOtlpReceiver({
  directory: {
    ingestTokenByHash: async (hash) => (hash === hashSecret(token) ? { id: newId('it'), organizationId } : undefined),
    organizations: async () => [],
  },
  sink: telemetry.sink,
  dataDirectory,
  retentionDays: () => 30,
  logger: silentLogger,
  now: () => new Date(),
});
await receiver.start(signal);
const server = createServer((request, response) => receiver.handle(request, response));
process.send?.(await listen(server));
