import { expect, it } from '@jest/globals';
import { readProse } from './endings.ts';

it('prose gives its citations as evidence, and says them no more', () => {
  expect(readProse('It fails [E1, E2].\n\nNothing  else.')).toEqual({
    paragraphs: [
      { text: 'It fails.', evidence_ids: ['E1', 'E2'] },
      { text: 'Nothing  else.', evidence_ids: [] },
    ],
  });
});

// Were its time quadratic in a run of blanks, which models fall into, the gateway would serve nobody for hours.
it('prose with 100,000 blanks is read at once, and is no answer', () => {
  expect(readProse(`a${' '.repeat(100_000)}b`)).toBeUndefined();
});
