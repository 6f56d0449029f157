import { code } from '../../src/contract/core/index.ts';

/** What a reader's program might fetch or open. */
const address =
  /(?:[a-z][a-z0-9+.-]{0,20}:)?\/\/[^\s`]*|\b(?:mailto|javascript|data|vbscript|file|tel|sms):[^\s`]*|\bwww\.[^\s`]*/giu;

const leftOut = '(address left out)';

/** Letters, digits and what stands between them in a sentence: nothing that Markdown or HTML reads as more than itself. */
const harmless = /^[\p{L}\p{N}\p{M}.,;:!?'"’“”()%+=/–—…-]*$/u;
/** `example.com`: programs make links of these by themselves. */
const domain = /[\p{L}\p{N}]\.\p{L}{2}/u;

/**
 * What a model wrote, on one line of Markdown that only shows it: no link, no image, no HTML, no heading. Names in
 * backticks, and words that Markdown could read as something else, stand in code spans; addresses are left out.
 */
export function plain(text: string, limit: number): string {
  const line = text
    .slice(0, limit)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(address, leftOut)
    .trim();
  const parts = line.split('`');
  return (
    parts
      .map((part, index) => {
        const quoted = index % 2 === 1 && index < parts.length - 1;
        return quoted ? code(part, 200) : part.split(' ').map(word).join(' ');
      })
      .join('')
      // Two spans side by side would be read as one with longer fences.
      .replaceAll('``', '` `')
  );
}

function word(text: string): string {
  if (harmless.test(text) && !domain.test(text)) return text;
  const [, before = '', inner = '', after = ''] = /^([("'“]*)(.*?)([.,;:!?)"'”]*)$/u.exec(text) ?? [];
  return inner === '' ? `${before}${after}` : `${before}${code(inner, 200)}${after}`;
}
