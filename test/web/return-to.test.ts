import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ownPath } from '../../src/web/paths.ts';
import { openSite, password, type Site } from './support/site.ts';

const elsewhere = [
  'https://evil.example',
  'http:evil.example',
  'https:/evil.example',
  '//evil.example',
  '///evil.example',
  '////evil.example/%2f..',
  '/\\evil.example',
  '\\/evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  ' //evil.example',
  '/.//evil.example',
  '/..//evil.example',
  '/a/..//evil.example',
  '/%2e//evil.example',
  '/%2E%2e//evil.example',
  '/a/%2e%2e//evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  'evil.example',
  '@evil.example',
  '?x',
  '#x',
  '',
  '/ä',
  '/a b',
  '/a\r\nSet-Cookie: x=1',
  `/${'a'.repeat(2_000)}`,
];

describe('where to go on after signing in', () => {
  it.each(elsewhere)('is never elsewhere: %j', (value) => {
    expect(ownPath(value)).toBeUndefined();
  });

  it.each([
    ['/account', '/account'],
    ['/consent/abc?x=1&y=//evil.example', '/consent/abc?x=1&y=//evil.example'],
    ['/incidents/../members#top', '/members'],
    ['/invitation?token=invt_x', '/invitation?token=invt_x'],
    ['/%2f/evil.example', '/%2f/evil.example'],
  ])('is a path of our own: %s', (value, path) => {
    expect(ownPath(value)).toBe(path);
  });

  it('stays with us whatever is asked for', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2e',
      '%2f',
      '\t',
      'evil.example',
      '@',
      ':',
      'https:',
      '?',
      '#',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = ownPath(pieces.join(''));
        if (path !== undefined) expect(new URL(path, 'https://own.example').origin).toBe('https://own.example');
      }),
      { numRuns: 2_000 },
    );
  });

  describe('as the pages take it', () => {
    let site: Site;
    beforeAll(async () => {
      site = await openSite();
      await site.person('ada@acme.example', [[await site.organization('acme'), 'admin']]);
    });
    afterAll(() => site.close());

    it.each(elsewhere)('leads home instead of to %j', async (value) => {
      const signedOut = site.browser();
      const csrf = await signedOut.csrf(`/sign-in?${new URLSearchParams({ return_to: value }).toString()}`);
      const fields = { csrf, email: 'ada@acme.example', password, return_to: value };
      expect((await signedOut.post('/sign-in', fields)).headers.location).toBe('/incidents');
      // Signed in now, the page leads on by itself.
      const again = await signedOut.get(`/sign-in?${new URLSearchParams({ return_to: value }).toString()}`);
      expect(again.headers.location).toBe('/incidents');
      const acme = await site.storage.directory.findOrganization('acme');
      const chosen = await signedOut.post('/organizations', {
        csrf: await signedOut.csrf('/organizations'),
        organization: acme?.id ?? '',
        return_to: value,
      });
      expect(chosen.headers.location).toBe('/incidents');
      const out = await signedOut.post('/sign-out', { csrf: await signedOut.csrf('/account'), return_to: value });
      expect(out.headers.location).toBe('/sign-in');
    });
  });
});
