import type { Server } from 'node:net';

/** Sooner after the one before, a connection is one of a burst. */
const burstMs = 5;
/** The least that the system sleeps, some 60 µs with its own slack, is what another process needs to be woken. */
const pauseMs = 0.01;

/**
 * Of the processes that accept from one queue, the one that is awake would take a whole burst of connections before the others
 * wake, and then serve those clients alone for as long as they stay. So it sleeps a moment after each but the first, and
 * the others take the next. A connection that comes alone costs nothing, nor do requests.
 */
export function leaveToOthers(server: Server): void {
  const nobodyWakes = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  let before = -Infinity;
  server.on('connection', () => {
    if (performance.now() - before < burstMs) Atomics.wait(nobodyWakes, 0, 0, pauseMs);
    before = performance.now();
  });
}
