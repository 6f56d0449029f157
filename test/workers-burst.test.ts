import { expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';

const script = join(import.meta.dirname, 'support', 'accepting-workers.ts');
const workers = 4;
const burst = 64;
const rounds = 30;

/** How many of so many connections at once the busiest worker took. */
async function most(port: number): Promise<number> {
  const sockets = Array.from({ length: burst }, () => connect(port, '127.0.0.1'));
  try {
    const answers = await Promise.all(sockets.map(async (socket) => String(await once(socket, 'data'))));
    return Math.max(...answers.map((answer) => answers.filter((other) => other === answer).length));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

it('leaves no burst of connections to the worker that is awake', async () => {
  const child = spawn(process.execPath, [script, String(workers)], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = Number(String(await once(child.stdout, 'data')));
    // Until the workers are warm.
    for (let round = 0; round < 5; round += 1) await most(port);
    let sum = 0;
    for (let round = 0; round < rounds; round += 1) sum += await most(port);
    // Of a single burst one may have more: the system may take the processor from all others.
    expect(sum / rounds).toBeLessThan((2 * burst) / workers);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
