import { readdirSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { SightlineError } from '../../src/contract/core/index.ts';
import { Channel } from './channel.ts';
import type { Idle } from './protocol.ts';

/** Where sockets lie: `run` in the data directory, unless a socket's path there would be longer than the system allows. */
export function privateRunDirectory(dataDirectory: string): string {
  const beside = join(dataDirectory, 'run');
  const longest = socketIn(beside, `org_${'0'.repeat(26)}`);
  if (Buffer.byteLength(longest) <= 100) {
    mkdirSync(beside, { recursive: true, mode: 0o700 });
    return beside;
  }
  // The same for every gateway on this data directory, so that they find each other's engines.
  const name = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  const directory = join(tmpdir(), `sightline-${name}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  // Anybody can make a folder of that name there first.
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(`${directory} is not a private folder of this user`);
  }
  return directory;
}

export function socketIn(runDirectory: string, organizationId: string): string {
  return join(runDirectory, `${organizationId}${socketEnding}`);
}

const socketEnding = '.sock';

/** How long one more organization waits for an engine to end. */
const patienceMs = 10_000;
const firstPauseMs = 50;
const longestPauseMs = 500;
const answerMs = 1_000;
/** How long an engine may take to end once its users have left. */
const leaveMs = 500;

/**
 * For an engine that found all seats of the data directory taken. Several gateway processes share the engines, so none knows
 * which is the longest unused: it asks every engine, then asks the users of the longest unused one to leave. Active users stay.
 */
export interface Room {
  /** Resolves when it is worth another try. Throws `telemetry_unavailable` after ten seconds of them. */
  wait(): Promise<void>;
}

/** @param open false once nobody waits any more. */
export function createRoom(runDirectory: string, seats: number, open: () => boolean): Room {
  let until = 0;
  let pauseMs = firstPauseMs;
  let asked = 0;

  /** Asks another one each time: who uses the longest unused one may be about to. */
  async function askToLeave(running: readonly Running[]): Promise<void> {
    const idle = running.filter(({ idleMs }) => idleMs > 0).toSorted((one, other) => other.idleMs - one.idleMs);
    const chosen = idle[asked % idle.length]?.channel;
    if (chosen === undefined) return;
    asked += 1;
    // It may have ended meanwhile.
    await chosen.request({ op: 'make_room' }, { timeoutMs: answerMs }).catch(() => {});
    await Promise.race([chosen.closed, sleep(leaveMs)]);
  }

  return {
    async wait() {
      until ||= Date.now() + patienceMs;
      while (open() && Date.now() < until) {
        // One that has just started may have its seat and no socket yet, one that is ending the other way round.
        await sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
        const running = await enginesIn(runDirectory);
        try {
          if (running.length < seats) return;
          await askToLeave(running);
        } finally {
          for (const { channel } of running) channel.close();
        }
      }
      throw tooManyOrganizations();
    },
  };
}

export function tooManyOrganizations(): SightlineError {
  return new SightlineError('telemetry_unavailable', 'Too many organizations are being queried at once.', {
    hint: 'Send the query again in a few seconds.',
    retryAfterSeconds: 2,
  });
}

interface Running {
  readonly channel: Channel;
  /** 0 while it works, and where it does not say. */
  readonly idleMs: number;
}

async function enginesIn(runDirectory: string): Promise<readonly Running[]> {
  const sockets = readdirSync(runDirectory).filter((name) => name.endsWith(socketEnding));
  const found = await Promise.all(sockets.map((name) => look(join(runDirectory, name))));
  return found.filter((engine) => engine !== undefined);
}

/** Undefined where the socket is of an engine that is gone. */
async function look(socket: string): Promise<Running | undefined> {
  const channel = await Channel.connect(socket);
  if (channel === undefined) return undefined;
  try {
    const { header } = await channel.request<Idle>({ op: 'idle' }, { timeoutMs: answerMs });
    return { channel, idleMs: header.ms };
  } catch {
    return { channel, idleMs: 0 };
  }
}
