import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readable } from '../support/person.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

const path = '/integrations/alerts';

describe('the pages of alert sources', () => {
  let place: Workplace;
  let admin: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
  });
  afterAll(() => place.close());

  const page = async (at: string): Promise<string> => readable((await admin.browser.get(at)).text);
  const secretIn = (text: string): string | undefined => /als_[\w-]{43}/.exec(text)?.[0];

  it('add one, and show its secret until it is copied, with what to set up', async () => {
    const added = await admin.browser.submit(path, { name: 'My <script>', plugin: 'generic' });
    const own = added.headers.location ?? '';
    expect(own).toMatch(new RegExp(`^${path}/als_[0-9a-z]{26}$`));
    const first = await page(own);
    const secret = secretIn(first);
    expect(first).toContain(`Authorization: Bearer ${secret}`);
    expect(first).toContain(`${place.site.authUrl}/alerts/${own.slice(path.length + 1)}`);
    await admin.browser.submit(own, {}, '/secret-copied');
    expect(secretIn(await page(own))).toBeUndefined();
    const list = (await admin.browser.get(path)).text;
    expect(readable(list)).toContain('My <script>');
    expect(list).not.toContain('My <script>');
    expect(list).not.toContain(secret);
  });

  it('say what is wrong with a name or a kind, and keep what was typed', async () => {
    expect((await admin.browser.submit(path, { name: ' ', plugin: 'generic' })).status).toBe(400);
    const taken = await admin.browser.submit(path, { name: 'my <SCRIPT>', plugin: 'generic' });
    expect(taken.status).toBe(409);
    expect(readable(taken.text)).toContain('my <SCRIPT>');
    expect((await admin.browser.submit(path, { name: 'x', plugin: 'nagios' })).status).toBe(400);
  });

  it('replace a secret, by the sender’s own where there is one, and remove the source', async () => {
    const own = (await admin.browser.submit(path, { name: 'Rotated', plugin: 'generic' })).headers.location ?? '';
    const before = secretIn(await page(own));
    expect((await admin.browser.submit(`${own}/rotate`, { secret: '' })).headers.location).toBe(own);
    expect(secretIn(await page(own))).not.toBe(before);
    await admin.browser.submit(`${own}/rotate`, { secret: 'whsec_of-the-sender-0123' });
    expect(await page(own)).toContain('whsec_of-the-sender-0123');
    expect((await admin.browser.submit(`${own}/rotate`, { secret: 'short' })).status).toBe(400);
    const removed = await admin.browser.submit(`${own}/remove`, {});
    expect(removed.headers.location).toBe(`${path}?done=removed`);
    expect((await admin.browser.get(own)).status).toBe(404);
  });
});
