import { describe, expect, it } from '@jest/globals';
import { isUnambiguous } from './host-check.ts';

describe('a request', () => {
  it.each([
    [['Host', 'a', 'Content-Length', '2'], true],
    [['Content-Length', '2'], true],
    [['Host', 'a', 'Transfer-Encoding', 'chunked'], true],
    [['Host', 'a', 'X-Forwarded-Host', 'b', 'X-Empty-as-it-is-', ''], true],
    [['Host', 'a', 'hOST', 'a'], false],
    [['Host', 'a', 'Content-Length', '2', 'transfer-ENCODING', ''], false],
  ])('with the fields %j is read alike by every parser: %s', (rawHeaders, alike) => {
    expect(isUnambiguous({ rawHeaders })).toBe(alike);
  });
});
