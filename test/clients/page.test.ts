import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clients } from '../../src/web/client-setup/index.ts';
import { root } from '../support/gateway.ts';
import { kinds } from './zoo/kinds/index.ts';
import { readRecord, tableOf, withTable } from './zoo/table.ts';

const page = await readFile(join(root, 'docs/clients.md'), 'utf8');

describe('the page about clients', () => {
  it('has the table of what was recorded last, and nothing failed then', async () => {
    const record = await readRecord();
    expect(withTable(page, tableOf(kinds, record))).toBe(page);
    expect(record.map(({ name }) => name)).toEqual(kinds.map(({ name }) => name));
    expect(record.filter(({ bearer, oauth }) => [bearer.state, oauth.state].includes('failed'))).toEqual([]);
  });

  it('names each client that connect knows', () => {
    for (const { name, title } of clients) expect(page).toMatch(new RegExp(`^\\| ${title} \\| \`${name}\` \\|`, 'm'));
  });
});
