import type { Logger } from '../../../src/contract/core/index.ts';
import type { TelemetrySink, Tenancy } from '../../../src/contract/telemetry/index.ts';
import { ask } from '../catalog.ts';
import type { PostgresConfig } from '../config.ts';
import { Connections } from '../connections.ts';
import { namesOf } from '../layout.ts';
import { poolOf } from '../settings.ts';
import { PostgresSink } from './sink.ts';

export interface Ingest {
  readonly sink: TelemetrySink;
  start(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** What the receiver writes to, where the warehouse is our own. */
export function createSink(config: PostgresConfig, tenancy: Tenancy, logger: Logger): Ingest | undefined {
  const { boundary } = config.tenancy;
  const { enabled, url } = config.ingest;
  if (!enabled || url === undefined || boundary.mode !== 'column') return undefined;
  let connections: Connections | undefined;
  const started = () => {
    if (connections === undefined) throw new Error('not started');
    return connections;
  };
  return {
    sink: new PostgresSink({ connections: started, tenancy, names: namesOf(config), column: boundary.column, logger }),
    async start(signal) {
      connections = new Connections({ ...poolOf(config, logger), client: { connectionString: url } });
      await ask(connections, 'SELECT 1', [], signal);
    },
    async stop() {
      await connections?.end();
    },
  };
}
