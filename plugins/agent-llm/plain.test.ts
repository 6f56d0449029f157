import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { activeContent } from '../../test/injection/active-content.ts';
import { plain } from './plain.ts';

describe('what a model wrote', () => {
  it('reads as it was meant', () => {
    expect(plain('`payment` fails since 11:35 (timeout), see status_code = 503.', 500)).toBe(
      '`payment` fails since 11:35 (timeout), see `status_code` = 503.',
    );
    expect(plain('calls to payments-db.internal, 40% slower!', 500)).toBe(
      'calls to `payments-db.internal`, 40% slower!',
    );
    expect(plain('see https://x.example/a?b=c now', 500)).toBe('see (address left out) now');
    expect(plain('**bold** # head\n- list', 500)).toBe('`**bold**` `#` head - list');
  });

  it('leads nowhere and stays on one line, whatever it is', () => {
    const breaking = [
      '`',
      '``',
      '[',
      ']',
      '](',
      ')',
      '!',
      '<',
      '>',
      'http',
      '://',
      '//',
      'www.',
      'a.example',
      '@',
      ':',
    ];
    const more = [
      '\\',
      '\n',
      ' ',
      '*',
      'javascript:',
      'data:',
      '#',
      '&lt;',
      '\u202e',
      '\u200b',
      '\ud800',
      'x',
      '"',
      '_',
      '~',
      '|',
    ];
    const pieces = fc.constantFrom(...breaking, ...more);
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 24 }), (parts) => {
        const shown = plain(parts.join(''), 1_000);
        expect(shown).not.toMatch(/[\n\r]/);
        expect(shown.isWellFormed()).toBe(true);
        expect(activeContent(shown)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
