import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HeadroomBuffer } from './headroom-buffer.ts';

const heads = ['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nDate: a\r\n', 'HTTP/1.1 404 Not Found\r\n', ''];

describe('a body with headroom', () => {
  it('is behind each head, whatever head and body were there before', () => {
    const answer = fc.record({
      head: fc.constantFrom(...heads),
      hasLength: fc.boolean(),
      body: fc.stringMatching(/^x{0,12}$/),
    });
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 12 }), (answers) => {
        const buffer = new HeadroomBuffer(12);
        for (const { head, hasLength, body } of answers) {
          buffer.length = buffer.memory.write(body, buffer.bodyAt);
          const said = hasLength ? '' : `content-length: ${body.length}\r\n`;
          expect(buffer.behind(head, hasLength)?.toString()).toBe(`${head}${said}\r\n${body}`);
          expect(buffer.body.toString()).toBe(body);
        }
      }),
    );
  });

  it('takes no head that is longer than its room, and stays as it was', () => {
    const buffer = new HeadroomBuffer(1);
    buffer.length = buffer.memory.write('x', buffer.bodyAt);
    const longest = 'h'.repeat(buffer.bodyAt - 2);
    expect(buffer.behind(longest, true)?.toString()).toBe(`${longest}\r\nx`);
    expect(buffer.behind(`${longest}h`, true)).toBeUndefined();
    expect(buffer.behind(longest, false)).toBeUndefined();
    expect(buffer.behind(longest, true)?.toString()).toBe(`${longest}\r\nx`);
  });
});
