import { SightlineError, foldCase } from '../../src/contract/core/index.ts';
import type { Scope } from './scope.ts';

const maximumWords = 16;
const maximumLength = 500;

/** Conditions for the column `search_text` (see `searchText`), one for each word of the query; all must hold. */
export function matchesWords(scope: Scope, query = '') {
  const words = foldCase(query)
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length > maximumWords || query.length > maximumLength) {
    throw new SightlineError(
      'invalid_argument',
      `A search takes at most ${maximumWords} words and ${maximumLength} characters.`,
    );
  }
  // `!` and not the usual backslash, which MySQL reads as an escape within the literal as well.
  return words.map((word) => scope.raw(`search_text like ? escape '!'`, [`%${word.replace(/[!%_]/g, '!$&')}%`]));
}

export function searchText(...parts: readonly string[]): string {
  return foldCase(parts.join('\n'));
}
