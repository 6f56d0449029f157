import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Stops accepting, lets the requests in flight finish, and cuts what is left at the deadline (ms). */
export async function drain(server: Server, deadlineMs: number): Promise<void> {
  if (!server.listening) return;
  let closed = false;
  const done = new Promise<void>((resolve) => {
    server.close(() => {
      closed = true;
      resolve();
    });
  });
  const deadline = Date.now() + deadlineMs;
  while (!closed && Date.now() < deadline) {
    // A kept-alive connection goes idle when its answer is out; close() alone would wait for its client.
    server.closeIdleConnections();
    await Promise.race([done, delay(50)]);
  }
  if (!closed) server.closeAllConnections();
  await done;
}
