import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import fc from 'fast-check';
import { Admission, refuseOverload } from './admission.ts';

/** All of a response that counting needs. */
class Request extends EventEmitter {}

function admitted(admission: Admission, request: Request, connection: object = request): boolean {
  // @ts-expect-error only `on` is used of it
  return admission.admit(connection, request);
}

describe('Admission', () => {
  it('lets in so many, and another for each that was answered', () => {
    const admission = new Admission(2, () => 0);
    const first = new Request();
    expect([first, new Request(), new Request()].map((request) => admitted(admission, request))).toEqual([
      true,
      true,
      false,
    ]);
    first.emit('close');
    expect([new Request(), new Request()].map((request) => admitted(admission, request))).toEqual([true, false]);
  });

  it('no longer counts who has waited for four seconds, nor when it is answered', () => {
    let now = 0;
    const admission = new Admission(2, () => now);
    const waiting = [new Request(), new Request()];
    for (const request of waiting) expect(admitted(admission, request)).toBe(true);
    now = 1_999;
    expect(admitted(admission, new Request())).toBe(false);
    now = 4_000;
    expect([1, 2, 3].map(() => admitted(admission, new Request()))).toEqual([true, true, false]);
    for (const request of waiting) request.emit('close');
    expect(admitted(admission, new Request())).toBe(false);
  });

  it('never has more than so many of the last two seconds under way, and comes back to nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1_500), fc.nat(20)), { maxLength: 200 }), (steps) => {
        let now = 0;
        const admission = new Admission(5, () => now);
        let open: { readonly at: number; readonly request: Request }[] = [];
        for (const [pause, which] of steps) {
          now += pause;
          const request = new Request();
          if (admitted(admission, request)) open.push({ at: now, request });
          expect(open.filter(({ at }) => now - at < 2_000).length).toBeLessThanOrEqual(5);
          const done = open[which];
          if (done === undefined) continue;
          done.request.emit('close');
          open = open.filter((one) => one !== done);
        }
        for (const { request } of open) request.emit('close');
        expect([1, 2, 3, 4, 5, 6].map(() => admitted(admission, new Request()))).toEqual([
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

  it('gives one place to a connection, however many requests it sends at once', () => {
    const admission = new Admission(2, () => 0);
    const [crowded, other, late] = [{}, {}, {}];
    const requests = Array.from({ length: 9_000 }, () => new Request());
    // @ts-expect-error only `on` is used of it
    for (const request of requests) expect(admission.admit(crowded, request)).toBe(true);
    expect([other, late].map((connection) => admitted(admission, new Request(), connection))).toEqual([true, false]);
    for (const request of requests.slice(1)) request.emit('close');
    expect(admitted(admission, new Request(), late)).toBe(false);
    requests[0]?.emit('close');
    expect(admitted(admission, new Request(), late)).toBe(true);
  });

  it.each([
    ['/v1/traces', { code: 14 }],
    ['/oauth2/token', { error: { code: 'overloaded' } }],
  ])('refuses %s in its own words, and says when to come again', async (path, body) => {
    const server = createServer((request, response) => refuseOverload(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const answer = await fetch(`http://127.0.0.1:${address.port}${path}`, { method: 'POST', body: 'x' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject(body);
    server.close();
  });
});
