import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { Inflow, refuseOverload } from './admission.ts';

/** All of a response that counting needs. */
class Request extends EventEmitter {}

function admitted(inflow: Inflow, request: Request): boolean {
  // @ts-expect-error only `on` is used of it
  return inflow.admit(request);
}

describe('Inflow', () => {
  it('lets in so many, and another for each that was answered', () => {
    const inflow = new Inflow(2, () => 0);
    const first = new Request();
    expect([first, new Request(), new Request()].map((request) => admitted(inflow, request))).toEqual([
      true,
      true,
      false,
    ]);
    first.emit('close');
    expect([new Request(), new Request()].map((request) => admitted(inflow, request))).toEqual([true, false]);
  });

  it('no longer counts who has waited for four seconds, nor when it is answered', () => {
    let now = 0;
    const inflow = new Inflow(2, () => now);
    const waiting = [new Request(), new Request()];
    for (const request of waiting) expect(admitted(inflow, request)).toBe(true);
    now = 1_999;
    expect(admitted(inflow, new Request())).toBe(false);
    now = 4_000;
    expect([1, 2, 3].map(() => admitted(inflow, new Request()))).toEqual([true, true, false]);
    for (const request of waiting) request.emit('close');
    expect(admitted(inflow, new Request())).toBe(false);
  });

  it('never has more than so many of the last two seconds under way, and comes back to nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1_500), fc.nat(20)), { maxLength: 200 }), (steps) => {
        let now = 0;
        const inflow = new Inflow(5, () => now);
        let open: { readonly at: number; readonly request: Request }[] = [];
        for (const [pause, which] of steps) {
          now += pause;
          const request = new Request();
          if (admitted(inflow, request)) open.push({ at: now, request });
          expect(open.filter(({ at }) => now - at < 2_000).length).toBeLessThanOrEqual(5);
          const done = open[which];
          if (done === undefined) continue;
          done.request.emit('close');
          open = open.filter((one) => one !== done);
        }
        for (const { request } of open) request.emit('close');
        expect([1, 2, 3, 4, 5, 6].map(() => admitted(inflow, new Request()))).toEqual([
          true,
          true,
          true,
          true,
          true,
          false,
        ]);
      }),
    );
  });

  it.each([
    ['/mcp', { jsonrpc: '2.0', error: { code: 503, data: { code: 'overloaded', retry_after_seconds: 1 } } }],
    ['/v1/traces', { code: 14 }],
    ['/oauth2/token', { error: { code: 'overloaded' } }],
  ])('refuses %s in its own words, and says when to come again', async (path, body) => {
    const server = createServer((_request, response) => refuseOverload(path, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const answer = await fetch(`http://127.0.0.1:${address.port}${path}`, { method: 'POST', body: 'x' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject(body);
    server.close();
  });

  it('refuses together those that come within moments: each alone wakes its client', async () => {
    const [one, other] = [1, 2].map(() => new ServerResponse(new IncomingMessage(new Socket())));
    if (one === undefined || other === undefined) throw new Error('there are two');
    const sent = (): boolean[] => [one, other].map(({ headersSent }) => headersSent);
    refuseOverload('/mcp', one);
    refuseOverload('/v1/logs', other);
    expect(sent()).toEqual([false, false]);
    while (!sent().includes(true)) await nextTurn();
    expect(sent()).toEqual([true, true]);
  });
});
