import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { newId } from '../contract/core/index.ts';
import { HeldAnswers } from './at-once.ts';

const mebibyte = 1024 * 1024;
const [acme, globex] = [newId('org'), newId('org')];

describe('HeldAnswers', () => {
  it('lets nobody begin a call who leaves too much unread, and others until it is too much of all', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const responses: ServerResponse[] = [];
    server.on('request', (_request, response) => responses.push(response));
    // Readers that never read.
    const readers = Array.from({ length: 4 }, () => connect(address.port, '127.0.0.1').pause());
    for (const reader of readers) reader.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    while (responses.length < 4) await new Promise(setImmediate);
    const held = new HeldAnswers();
    const organizations = [acme, newId('org'), newId('org'), newId('org')];
    for (const [index, response] of responses.entries()) {
      expect(held.refusal(globex)).toBeUndefined();
      response.end(Buffer.alloc(64 * mebibyte));
      held.add(organizations[index] ?? acme, 64 * mebibyte, response);
      expect(held.refusal(organizations[index] ?? acme)).toMatchObject({ code: 'rate_limited' });
    }
    expect(held.refusal(globex)).toMatchObject({ code: 'overloaded', retryAfterSeconds: 2 });
    const closed = responses.map((response) => once(response, 'close'));
    for (const reader of readers) reader.destroy();
    await Promise.all(closed);
    for (const organization of [...organizations, globex]) expect(held.refusal(organization)).toBeUndefined();
    server.close();
  });
});
