import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { renderInline, renderMarkdown } from './render.ts';

const render = (markdown: string): string =>
  renderMarkdown(markdown, 2)
    .toString()
    .replaceAll(/>\s*\n\s*</g, '><')
    .replace(/^<div class="markdown" dir="auto">|<\/div>$/g, '');

/** What a renderer of ours may write; a tag or an attribute beside these would have come from the text. */
const ours =
  /<\/?(?:p|ul|ol|li|h[1-6]|pre|code|blockquote|table|thead|tbody|tr|th|td|hr|br|strong|em|del|bdi|div|span|a)(?: (?:start="\d+"|class="(?:markdown|table|soft)"|dir="auto"|tabindex="0"|role="group"|aria-label="Table"|scope="col"|href="https?:\/\/[^"<>\s]*"|rel="noopener noreferrer nofollow"))*(?: \/)?>/g;

function foreign(html: string): string | undefined {
  return /[<>]/.exec(html.replaceAll(ours, ''))?.[0];
}

describe('Markdown of others', () => {
  it.each([
    ['# One', '<h3>One</h3>'],
    ['##### Five', '<h3>Five</h3>'],
    ['## Two\n#### Four\n### Three\n## Two', '<h3>Two</h3><h4>Four</h4><h4>Three</h4><h3>Two</h3>'],
    ['a\nb', '<p>a\nb</p>'],
    ['a  \nb', '<p>a<br />b</p>'],
    ['**a** __b__ *c* _d_ ~~e~~', '<p><strong>a</strong> <strong>b</strong> <em>c</em> <em>d</em> <del>e</del></p>'],
    ['**a *b***', '<p><strong>a <em>b</em></strong></p>'],
    ['*a **b***', '<p><em>a <strong>b</strong></em></p>'],
    ['a snake_case_name and 2 * 3', '<p>a snake_case_name and 2 * 3</p>'],
    ['**never closed', '<p>**never closed</p>'],
    ['`a < b` and ``a ` b``', '<p><code>a &#60; b</code> and <code>a &#96; b</code></p>'],
    ['\\*plain\\*', '<p>*plain*</p>'],
    ['- a\n- b\n  - c', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>'],
    ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
    ['> a\n> - b', '<blockquote><p>a</p><ul><li>b</li></ul></blockquote>'],
    ['```sql\nselect *\n```', '<pre tabindex="0"><code>select *</code></pre>'],
    ['````\n```\n````', '<pre tabindex="0"><code>&#96;&#96;&#96;</code></pre>'],
    ['a\n\n---\n\nb', '<p>a</p><hr /><p>b</p>'],
    ['<!-- findings of the agent -->', ''],
    ['```\n<!-- x -->\n```', '<pre tabindex="0"><code>&#60;!-- x --&#62;</code></pre>'],
    ['&lt;b&gt;', '<p>&#60;b&#62;</p>'],
    ['[a]: https://a.example/ "x"\n\n[a] [a][a]', '<p>[a]: LINK &#34;x&#34;</p><p>[a] [a][a]</p>'],
  ])('%j is %s', (markdown, html) => {
    const link = '<a href="https://a.example/" rel="noopener noreferrer nofollow">https://a.example/</a>';
    expect(render(markdown)).toBe(html.replace('LINK', link));
  });

  it('makes one link of an image within a link, and shows what is nested deeper than it may be', () => {
    expect(render('[![a](https://a.example/i.png)](https://b.example)')).toBe(
      '<p><a href="https://b.example/" rel="noopener noreferrer nofollow">a</a> <span class="soft">(b.example)</span></p>',
    );
    const nested = render(Array.from({ length: 9 }, (_, depth) => `${'  '.repeat(depth)}- item ${depth}`).join('\n'));
    expect(nested.match(/<ul>/g)).toHaveLength(6);
    for (let depth = 0; depth < 9; depth += 1) expect(nested).toContain(`item ${depth}`);
  });

  it('shows a table, whose rows are no longer than its head', () => {
    expect(render('| a | b |\n|---|:-:|\n| `1\\|2` | **3** | 4 |')).toBe(
      '<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th scope="col">a</th>' +
        '<th scope="col">b</th></tr></thead><tbody><tr><td><code>1|2</code></td><td><strong>3</strong></td></tr></tbody></table></div>',
    );
  });

  it.each([
    ['[here](https://example.com/x?a=1&b=2)', 'https://example.com/x?a=1&#38;b=2', 'example.com'],
    ['![tracker](https://evil.example/pixel.png)', 'https://evil.example/pixel.png', 'evil.example'],
    ['[https://bank.example](https://evil.example)', 'https://evil.example/', 'evil.example'],
    ['[bаnk](https://bаnk.example/)', 'https://xn--bnk-6cd.example/', 'xn--bnk-6cd.example'],
  ])('%j leads to the web alone and says where', (markdown, href, host) => {
    const html = render(markdown);
    expect(html.match(/href="[^"]*"/g)).toEqual([`href="${href}"`]);
    expect(html).toContain(`<span class="soft">(${host})</span>`);
    expect(html).not.toContain('<img');
  });

  it('makes a link of an address as it stands, without the sentence around it', () => {
    expect(render('See https://example.com/a.')).toBe(
      '<p>See <a href="https://example.com/a" rel="noopener noreferrer nofollow">https://example.com/a</a>.</p>',
    );
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<!-- --><script>alert(1)</script>',
    '<!--><script>alert(1)</script>-->',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert%281%29)',
    '[x](\u0001javascript:alert(1))',
    '[x](data:text/html;base64,PHNjcmlwdD4=)',
    '[x](vbscript:msgbox)',
    '[x](file:///etc/passwd)',
    '[x](//evil.example)',
    '[x](/sign-out)',
    '[x](https://user:pass@evil.example/)',
    '[x](https://ours.example@evil.example)',
    '[x](https://a.example/"onmouseover="alert(1))',
    "[x](https://a.example/'onmouseover='alert(1))",
    '[x](https://a.example "t\\" onclick=alert(1) ")',
    '[x" onclick="alert(1)](https://a.example)',
    '[a [b](javascript:alert(1))](https://a.example)',
    '[`](javascript:alert(1)`)',
    '![x](javascript:alert(1))',
    '![" onerror="alert(1)](https://a.example/x.png)',
    '<javascript:alert(1)>',
    '<https://a.example/"><script>alert(1)</script>>',
    'https://a.example/"onclick="alert(1)',
    'https://a.example/<script>alert(1)</script>',
    '```"><script>alert(1)</script>\nx\n```',
    '`</code><script>alert(1)</script>`',
    '```\n</code></pre><script>alert(1)</script>\n```',
    '# <script>alert(1)</script>',
    '| <script>alert(1)</script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | [x](javascript:alert(1)) |',
    '- <script>alert(1)</script>\n  - <img src=x onerror=alert(1)>',
    '> <script>alert(1)</script>',
    '**<script>alert(1)</script>**',
    '&lt;script&gt;alert(1)&lt;/script&gt; &#106;avascript:',
    '[x]: javascript:alert(1)\n\n[x]',
    '[x](https://a.example\njavascript:alert(1))',
    '<style>*{background:url(https://evil.example)}</style>',
    '<meta http-equiv=refresh content="0;url=https://evil.example">',
    '<form action=https://evil.example><input name=csrf>',
    '<base href="https://evil.example">',
    '\u202e<script>\u202c',
    '<scr\0ipt>alert(1)</scr\0ipt>',
  ])('%j is text', (attack) => {
    const html = render(attack);
    expect(foreign(html)).toBeUndefined();
    expect(html.match(/href="(?!https?:\/\/)[^"]*"/)).toBeNull();
    expect(html).not.toMatch(/href="[^"]*@/);
  });

  it('writes no tag but ours whatever the text is', () => {
    const marks = [
      '<',
      '>',
      '"',
      "'",
      '`',
      '*',
      '_',
      '~~',
      '[',
      ']',
      '(',
      ')',
      '!',
      '\\',
      '|',
      '\n',
      '\n\n',
      '- ',
      '> ',
    ];
    const words = [
      '#',
      '```',
      '<!--',
      '-->',
      '<script>',
      'onclick=',
      'javascript:',
      'https://a.example',
      ' ',
      'x',
      '|---|',
    ];
    const pieces = fc.constantFrom(...marks, ...words);
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const html = renderMarkdown(parts.join(''), 2).toString() + renderInline(parts.join('')).toString();
        expect(foreign(html)).toBeUndefined();
        expect(html.match(/href="(?!https?:\/\/)[^"]*"/)).toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it('shows no text in another order than it is written in', () => {
    expect(render('`rm -rf \u202egpj.exe`')).toBe('<p><code>rm -rf \ufffdgpj.exe</code></p>');
    expect(render('rm -rf &#x202e;gpj.exe')).toBe('<p>rm -rf \ufffdgpj.exe</p>');
  });

  it.each(['[', '![', '[](', '*a ', '*a _b **c ~~d ', '`', '> ', '- ', '|\n|-\n', '<', '# ', '<!--', '- a\n', '```\n'])(
    'nests no deeper and grows no more than in step with 200,000 characters of %j',
    (piece) => {
      const html = render(piece.repeat(Math.ceil(200_000 / piece.length)));
      expect(html.length).toBeLessThan(200_000 * 20);
      expect(html.match(/(?:<(?:blockquote|ul|ol)>(?:<li>)?){8}/)).toBeNull();
    },
  );

  it('cuts what nobody reads, and says so', () => {
    const html = render('x'.repeat(300_000));
    expect(html).toContain('The rest is not shown');
    expect(html.length).toBeLessThan(201_000);
  });
});
