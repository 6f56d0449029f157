import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { rejection } from '../../../test/contract/runner.ts';
import { ClickHouseServer } from '../../../test/support/clickhouse/server.ts';
import { withEngine } from '../../../test/support/clickhouse/with-engine.ts';
import { ask, connect, never, open, rowsOf, trickle } from '../support/asking.ts';
import type { Warehouse } from './warehouse.ts';

const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

withEngine(() => {
  describe('a ClickHouse that is not there', () => {
    let server: ClickHouseServer;
    const dead: ClickHouseServer[] = [];
    let warehouse: Warehouse;
    beforeAll(async () => {
      server = await ClickHouseServer.start();
      warehouse = connect([server.url]);
      await warehouse.start(never);
    });
    afterAll(async () => {
      await warehouse.stop();
      await server.stop();
      for (const before of dead) await before.stop();
    });

    it('is an error within the deadline when it hangs, and answers again when it goes on', async () => {
      server.freeze();
      const error = await rejection(ask(warehouse, 'SELECT 1', { limits: { timeoutMs: 400 } }));
      expect(error).toMatchObject({ code: 'query_timeout' });
      server.thaw();
      expect(await ask(warehouse, 'SELECT 1')).toEqual([[1]]);
    });

    it('is an error when it dies in the middle of a result, and is used again when it is back', async () => {
      const idle = sockets();
      const cursor = await open(warehouse, trickle, { limits: { maxRows: 1e9, maxBytes: 1e12 } });
      await cursor.read();
      await server.kill();
      expect(await rejection(rowsOf(cursor))).toMatchObject({ code: 'telemetry_unavailable', retryAfterSeconds: 2 });
      expect(await rejection(ask(warehouse, 'SELECT 1'))).toMatchObject({ code: 'telemetry_unavailable' });
      await expectSockets(idle);
      const { port, directory } = server;
      dead.push(server);
      server = await ClickHouseServer.start({ port, directory });
      expect(await ask(warehouse, 'SELECT 1')).toEqual([[1]]);
    });

    it('is an error within the deadline when nobody takes the connection up', async () => {
      const hole: Server = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(hole, 'listening');
      const address = hole.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      const lost = connect([`http://127.0.0.1:${port}`]);
      expect(await rejection(lost.rows('SELECT 1', AbortSignal.timeout(300)))).toMatchObject({
        code: 'query_cancelled',
      });
      await lost.stop();
      hole.close();
    });

    it('is left out where another replica answers', async () => {
      const both = connect(['http://127.0.0.1:1', server.url]);
      await both.start(never);
      for (let count = 0; count < 3; count += 1) expect(await ask(both, 'SELECT 1')).toEqual([[1]]);
      await both.stop();
    });
  });
});

async function expectSockets(most: number): Promise<void> {
  for (let tries = 0; tries < 50 && sockets() > most; tries += 1) await sleep(50);
  expect(sockets()).toBeLessThanOrEqual(most);
}
