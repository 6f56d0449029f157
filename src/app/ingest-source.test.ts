import { describe, expect, it } from '@jest/globals';
import { newId } from '../contract/index.ts';
import { ingestSource } from './ingest-source.ts';

describe('the ingest configuration', () => {
  it('is read, never made: without a token it says who makes one', async () => {
    const source = ingestSource({ current: async () => undefined }, 'http://127.0.0.1:8080');
    await expect(source.config(newId('org'))).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('sightline ingest rotate'),
    });
  });

  it('is the endpoint with the present token', async () => {
    const source = ingestSource({ current: async () => 'it_x' }, 'http://127.0.0.1:8080');
    expect(await source.config(newId('org'))).toEqual({ endpoint: 'http://127.0.0.1:8080', token: 'it_x' });
  });
});
