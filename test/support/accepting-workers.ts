import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { leaveToOthers } from '../../src/gateway/workers/seat.ts';

/*
 * Workers that accept from one queue as those of a gateway do, and say their number to whoever connects. Prints the port.
 * Argument: how many.
 */
if (cluster.isPrimary) {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const workers = Array.from({ length: Number(process.argv[2]) }, () => cluster.fork());
  const [port] = await Promise.all(
    workers.map(async (worker) => {
      const [address]: unknown[] = await once(worker, 'listening');
      return address instanceof Object && 'port' in address ? address.port : undefined;
    }),
  );
  console.log(port);
  process.on('SIGTERM', () => process.exit(0));
} else {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(String(cluster.worker?.id));
  });
  leaveToOthers(server);
  server.listen(0, '127.0.0.1');
}
