import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * A load generator that costs little beside the server on the same machine: requests are bytes made beforehand, and of
 * an answer the status and the length are read.
 */

export interface Load {
  readonly seconds: number;
  /** Milliseconds each took. */
  readonly good: readonly number[];
  /** 429 and 503. */
  readonly refused: readonly number[];
  /** Other statuses and lost connections. */
  readonly failed: number;
  /** Requests that found every connection busy, and were not sent. */
  readonly unsent: number;
}

/** A `tools/call` as it goes over the wire. */
export function callBytes(url: string, token: string, name: string, args: object): Buffer {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  return Buffer.from(
    `POST /mcp HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json, text/event-stream\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** What any connection has just read: it is looked at before the next one reads. */
const read = Buffer.allocUnsafe(64 * 1024);
const headEnd = Buffer.from('\r\n\r\n');

/** A kept connection, one request at a time. */
class Line {
  readonly #socket: Socket;
  /** Of an answer whose head has not come whole; else empty. */
  #head = '';
  /** Bytes of the answer that are still to come, once its head has come. */
  #missing = 0;
  #status = 0;
  #done: ((status: number) => void) | undefined;

  private constructor(port: number) {
    // Without a stream between: it would make a buffer of each read, and what is to be measured would wait for its garbage.
    const onread = { buffer: read, callback: (bytes: number): boolean => this.#take(bytes) };
    this.#socket = connect({ port, host: '127.0.0.1', onread });
    this.#socket.setNoDelay(true);
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#answer(0));
  }

  static async open(port: number): Promise<Line> {
    const line = new Line(port);
    await once(line.#socket, 'connect');
    return line;
  }

  get closed(): boolean {
    return this.#socket.destroyed;
  }

  ask(request: Buffer, done: (status: number) => void): void {
    this.#done = done;
    if (this.closed) this.#answer(0);
    else this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** True, so that reading goes on. */
  #take(bytes: number): boolean {
    if (this.#missing > 0) {
      this.#missing -= bytes;
      if (this.#missing === 0) this.#answer(this.#status);
      return true;
    }
    const end = this.#head === '' ? read.subarray(0, bytes).indexOf(headEnd) : -1;
    this.#head += read.toString('latin1', 0, end === -1 ? bytes : end + headEnd.length);
    const length = this.#head.indexOf('\r\n\r\n') + headEnd.length;
    if (length < headEnd.length) return true;
    this.#status = Number(this.#head.slice(9, 12));
    const body = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
    const bodyRead = end === -1 ? this.#head.length - length : bytes - length;
    this.#missing = body - bodyRead;
    if (this.#missing === 0) this.#answer(this.#status);
    return true;
  }

  #answer(status: number): void {
    const done = this.#done;
    this.#done = undefined;
    this.#head = '';
    this.#missing = 0;
    done?.(status);
  }
}

class Tally {
  readonly good: number[] = [];
  readonly refused: number[] = [];
  failed = 0;
  unsent = 0;

  note(status: number, ms: number): void {
    if (status === 200) this.good.push(ms);
    else if (status === 429 || status === 503) this.refused.push(ms);
    else this.failed += 1;
  }

  load(seconds: number): Load {
    const { good, refused, failed, unsent } = this;
    return { seconds, good, refused, failed, unsent };
  }
}

function openAll(port: number, count: number): Promise<Line[]> {
  return Promise.all(Array.from({ length: count }, () => Line.open(port)));
}

/** So many clients, each of which sends again when it was answered. */
export async function closedLoop(
  port: number,
  connections: number,
  requests: readonly Buffer[],
  seconds: number,
): Promise<Load> {
  const lines = await openAll(port, connections);
  const tally = new Tally();
  const began = performance.now();
  const end = began + seconds * 1_000;
  await Promise.all(
    lines.map(async (line, index) => {
      const request = requests[index % requests.length];
      if (request === undefined) throw new Error('nothing to send');
      while (performance.now() < end && !line.closed) {
        const sent = performance.now();
        const status = await new Promise<number>((resolve) => line.ask(request, resolve));
        tally.note(status, performance.now() - sent);
      }
    }),
  );
  const took = (performance.now() - began) / 1_000;
  for (const line of lines) line.close();
  return tally.load(took);
}

/** So many requests a second whatever becomes of them, on whichever connections are free. */
export async function openLoop(
  port: number,
  connections: number,
  requests: readonly Buffer[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Load> {
  const lines = await openAll(port, connections);
  const free = [...lines];
  const tally = new Tally();
  const began = performance.now();
  let due = 0;
  let underWay = 0;
  while (performance.now() - began < seconds * 1_000) {
    const until = Math.floor(((performance.now() - began) / 1_000) * perSecond);
    for (; due < until; due += 1) {
      const line = free.pop();
      const request = requests[due % requests.length];
      if (line === undefined || request === undefined) {
        tally.unsent += 1;
        continue;
      }
      const sent = performance.now();
      underWay += 1;
      line.ask(request, (status) => {
        tally.note(status, performance.now() - sent);
        underWay -= 1;
        if (!line.closed) free.push(line);
      });
    }
    await sleep(1);
  }
  const took = (performance.now() - began) / 1_000;
  for (let waited = 0; underWay > 0 && waited < 200; waited += 1) await sleep(50);
  tally.failed += underWay;
  for (const line of lines) line.close();
  return tally.load(took);
}

export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
