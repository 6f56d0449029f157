import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { strangersName } from '../../src/web/components.ts';
import { html } from '../../src/web/html.ts';

describe('a template', () => {
  it.each([
    ['<script>alert(1)</script>', '&#60;script&#62;alert(1)&#60;/script&#62;'],
    ['"><img src=x onerror=alert(1)>', '&#34;&#62;&#60;img src=x onerror=alert(1)&#62;'],
    ["' autofocus onfocus='x", '&#39; autofocus onfocus=&#39;x'],
    ['&lt;b&gt;', '&#38;lt;b&#38;gt;'],
    ['`', '&#96;'],
  ])('escapes %s', (hostile, escaped) => {
    expect(html`<p title="${hostile}">${hostile}</p>`.toString()).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  it('lets no text whatsoever out of its place', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(html`${text}`.toString()).not.toMatch(/[<>"'`]|&(?!#\d+;)/);
      }),
    );
  });

  it('takes pieces as they are, lists one behind the other, and nothing for what is not there', () => {
    const items = ['<', 'b'].map((text) => html`<b>${text}</b>`);
    expect(html`${items}${undefined}${false}${0}`.toString()).toBe('<b>&#60;</b><b>b</b>0');
  });

  it('takes an object that only looks like a piece for text', () => {
    const forged = { toString: () => '<b>' };
    // @ts-expect-error the types refuse it, too
    expect(() => html`${forged}`.toString()).toThrow();
  });
});

describe("a stranger's name", () => {
  it.each([
    ['Claude\u202Eedoc', 'Claude edoc'],
    ['a\u0000b\u200Bc\n\td', 'a b c d'],
    [' \u2066 Cursor \u2069 ', 'Cursor'],
    ['<b>x</b>', '&#60;b&#62;x&#60;/b&#62;'],
    ['n'.repeat(61), `${'n'.repeat(60)}…`],
    ['🦊'.repeat(61), `${'🦊'.repeat(60)}…`],
  ])('is shown without what hides or reorders: %j', (name, shown) => {
    expect(strangersName(name).toString()).toBe(`<bdi>${shown}</bdi>`);
  });
});
