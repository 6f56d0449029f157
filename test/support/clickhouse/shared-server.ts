import { afterAll, beforeAll } from '@jest/globals';
import { ClickHouseServer, type ServerOptions } from './server.ts';

/** One server for a file's tests. */
export function sharedServer(options: ServerOptions = {}): () => ClickHouseServer {
  let server: ClickHouseServer | undefined;
  beforeAll(async () => {
    server = await ClickHouseServer.start(options);
  });
  afterAll(() => server?.stop());
  return () => {
    if (server === undefined) throw new Error('before the tests begin');
    return server;
  };
}
