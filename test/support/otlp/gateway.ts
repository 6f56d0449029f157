import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSecret, newId, type OrganizationId, type Logger } from '../../../src/contract/core/index.ts';
import type { LogPosition, TelemetryLoad, TelemetrySink } from '../../../src/contract/telemetry/index.ts';
import {
  createOtlpReceiver,
  type OtlpReceiver,
  type OtlpReceiverOptions,
} from '../../../src/telemetry/ingest/receiver.ts';
import { framesRows, type Row } from './rows.ts';

export const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** A warehouse in memory that keeps its promise: rows and position together, or neither. */
export class MemorySink implements TelemetrySink {
  readonly rows: { readonly organizationId: OrganizationId; readonly row: Row }[] = [];
  readonly positions = new Map<string, LogPosition>();
  readonly retained: { readonly organizationId: OrganizationId; readonly olderThan: Date }[] = [];
  loads = 0;
  /** Stands before and after each commit, to fail there. */
  before: (load: TelemetryLoad) => Promise<void> | void = () => {};
  after: (load: TelemetryLoad) => Promise<void> | void = () => {};
  hold: NonNullable<TelemetrySink['hold']> = async () => () => {};

  async committed(organizationId: OrganizationId, log: string): Promise<LogPosition | undefined> {
    return this.positions.get(`${organizationId}/${log}`);
  }

  async load(load: TelemetryLoad): Promise<void> {
    this.loads += 1;
    await this.before(load);
    const { organizationId, log, batches, upTo } = load;
    const at = this.positions.get(`${organizationId}/${log}`);
    if (at && (upTo.segment < at.segment || (upTo.segment === at.segment && upTo.offset <= at.offset))) return;
    for (const batch of batches) for (const row of framesRows(batch)) this.rows.push({ organizationId, row });
    this.positions.set(`${organizationId}/${log}`, upTo);
    await this.after(load);
  }

  async retain(organizationId: OrganizationId, olderThan: Date): Promise<void> {
    this.retained.push({ organizationId, olderThan });
  }

  names(organizationId?: OrganizationId): unknown[] {
    return this.rows
      .filter((entry) => organizationId === undefined || entry.organizationId === organizationId)
      .map(({ row }) => row['name'] ?? row['body']);
  }
}

export interface Fixture {
  readonly receiver: OtlpReceiver;
  readonly sink: MemorySink;
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  /** Two organizations, each with its token. */
  readonly organizations: readonly { readonly id: OrganizationId; readonly token: string }[];
  readonly revoked: Set<string>;
  close(): Promise<void>;
}

export async function receiverFixture(options: Partial<OtlpReceiverOptions> = {}): Promise<Fixture> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sightline-otlp-'));
  const sink = new MemorySink();
  const organizations = ['it_first', 'it_second'].map((token) => ({ id: newId('org'), token }));
  const revoked = new Set<string>();
  const receiver = createOtlpReceiver({
    directory: {
      async ingestTokenByHash(hash) {
        const found = organizations.find(({ token }) => hashSecret(token) === hash && !revoked.has(token));
        return found === undefined ? undefined : { id: newId('it'), organizationId: found.id };
      },
      async organizations() {
        return organizations.map(({ id, token }) => ({ id, name: token, createdAt: new Date(0) }));
      },
    },
    sink,
    dataDirectory,
    retentionDays: () => 30,
    logger: silent,
    now: () => new Date(),
    ...options,
  });
  await receiver.start(new AbortController().signal);
  const server = createServer((request, response) => {
    if (!receiver.handle(request, response)) response.writeHead(418).end();
  });
  server.on('checkContinue', (request, response) => receiver.handle(request, response, true));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = addressOf(server.address());
  return {
    receiver,
    sink,
    url: `http://127.0.0.1:${port}`,
    port,
    dataDirectory,
    organizations,
    revoked,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await receiver.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return address;
}

/** Polls until `done`; a promise of the product that has no event to wait for. */
export async function until(done: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (done()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`still not: ${what}`);
}
