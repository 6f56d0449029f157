import { describe, expect, it } from '@jest/globals';
import { bringsSecret } from './alert-proof.ts';

const body = Buffer.from('{}');
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('bringsSecret', () => {
  it.each([['Bearer s3:cret'], ['bearer s3:cret'], [basic('anybody:s3:cret')], [basic(':s3:cret')]])(
    'takes %s',
    (authorization) => {
      expect(bringsSecret({ headers: { authorization }, body }, 's3:cret')).toBe(true);
    },
  );

  it.each([
    ['s3:cret'],
    ['Bearer s3:cret x'],
    ['Bearer s3:cret, Bearer s3:cret'],
    ['Digest s3:cret'],
    [basic('s3:cret')],
    [basic('s3:cret:')],
    [basic('anybody:cret')],
  ])('does not take %s', (authorization) => {
    expect(bringsSecret({ headers: { authorization }, body }, 's3:cret')).toBe(false);
  });
});
