import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { newId, type GrantId } from '../../src/contract/core/index.ts';
import type { TokenTrust } from '../../src/contract/issuer/index.ts';
import { readable } from '../support/person.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

const path = '/integrations/applications';

describe('the page of connected applications', () => {
  let place: Workplace;
  let admin: Colleague;
  let member: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
    member = await place.enter('member', 'mia@acme.example');
  });
  afterAll(() => place.close());

  let port = 4_711;
  async function connect({ user }: Colleague, clientName: string, machine?: string): Promise<GrantId> {
    const id = newId('gra');
    await place.workspace.grants.create({
      id,
      userId: user.id,
      clientId: 'https://client.example/metadata',
      clientName,
      redirectOrigin: `http://127.0.0.1:${(port += 1)}`,
      ...(machine !== undefined && { machine }),
      scopes: ['telemetry:read'],
    });
    return id;
  }

  it('shows everybody’s to an admin, and one’s own to a member', async () => {
    await connect(admin, 'Editor of Ada');
    await connect(member, 'Editor of Mia');
    const [all, own] = await Promise.all([admin, member].map(({ browser }) => browser.get(path)));
    expect(readable(all?.text ?? '')).toMatch(/Editor of Mia mia@acme.example|Editor of Ada ada@acme.example/);
    expect(all?.text).toContain('Editor of Mia');
    expect(own?.text).toContain('Editor of Mia');
    expect(own?.text).not.toContain('Editor of Ada');
    expect(own?.text).not.toContain(admin.user.email);
  });

  it('shows a name that its client chose without what would reorder or hide the text around it', async () => {
    const id = await connect(member, `Ev\u{202e}il\u{200b} ${'x'.repeat(300)}`);
    for (const shown of [path, `${path}/${id}/revoke`]) {
      const { text } = await admin.browser.get(shown);
      expect(text).toContain('Ev il x');
      expect(text).not.toMatch(/[\u{202e}\u{200b}]|x{70}/u);
    }
  });

  it('tells how to connect one, with nothing secret in it', async () => {
    const page = readable((await member.browser.get(path)).text);
    expect(page).toContain(`claude mcp add --transport http sightline ${place.site.authUrl}/mcp`);
    expect(page).not.toMatch(/SECRET/i);
  });

  it.each([
    ['its own person', () => member],
    ['an admin', () => admin],
  ])('revokes one for %s after asking, and its token ends with the next request', async (_who, who) => {
    const id = await connect(member, 'Short-lived');
    const pair = await generateKeyPair('ES256');
    const trust: TokenTrust = {
      issuer: place.site.authUrl,
      algorithms: ['ES256'],
      keys: createLocalJWKSet({ keys: [{ ...(await exportJWK(pair.publicKey)), alg: 'ES256' }] }),
      claims: () => ({
        kind: 'user',
        subject: member.user.id,
        organizationId: place.organization.id,
        scopes: ['telemetry:read'],
        clientId: 'https://client.example/metadata',
        grantId: id,
      }),
    };
    const token = await new SignJWT({ iss: trust.issuer, aud: `${place.site.authUrl}/mcp` })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime('1h')
      .sign(pair.privateKey);
    await expect(place.verify(token, { trusts: [trust] })).resolves.toMatchObject({ subject: member.user.id });

    const { browser, user } = who();
    expect(readable((await browser.get(`${path}/${id}/revoke`)).text)).toContain('Revoke Short-lived?');
    expect((await browser.submit(`${path}/${id}/revoke`, {})).headers.location).toBe(path);
    await expect(place.verify(token, { trusts: [trust] })).rejects.toMatchObject({ code: 'invalid_token' });
    const [last] = await place.workspace.audit.list({ limit: 1 });
    expect(last).toMatchObject({ event: 'grant.revoked', target: id, subject: user.id, outcome: 'ok' });
  });

  it('is one entry an application and machine, and ends as a whole', async () => {
    const nadja = await place.enter('member', 'nadja@acme.example');
    const [laptop, desk] = ['Firefox on Linux, 192.0.2.7', 'Edge on Windows, 192.0.2.8'];
    const [first, other, last] = [
      await connect(nadja, 'Agent', laptop),
      await connect(nadja, 'Agent', desk),
      await connect(nadja, 'Agent', laptop),
    ];
    const page = (await nadja.browser.get(path)).text;
    expect(
      readable(page)
        .match(/Agent (?:Firefox|Edge)[^:]*?(?=http)/g)
        ?.map((text) => text.trim())
        .toSorted(),
    ).toEqual([`Agent ${desk}`, `Agent ${laptop} 2 times`]);
    // By the older one, too: the page may have been open for long.
    expect(readable((await nadja.browser.get(`${path}/${first}/revoke`)).text)).toContain('each of its 2 connections');
    await nadja.browser.submit(`${path}/${first}/revoke`, {}, `${path}/${last}/revoke`);
    const alive = await Promise.all([first, other, last].map((id) => place.site.storage.directory.liveGrant(id)));
    expect(alive.map((grant) => grant !== undefined)).toEqual([false, true, false]);
  });

  it('shows what clients call themselves, and only as text', async () => {
    const name = '<script>alert(1)</script>"\'';
    const id = await connect(member, name);
    for (const page of [path, `${path}/${id}/revoke`]) {
      const { text } = await member.browser.get(page);
      expect(text).not.toContain('<script>alert');
      expect(readable(text)).toContain(name);
    }
  });

  it('shows a hundred at once', async () => {
    const crowded = await place.enter('member', 'many@acme.example');
    for (let count = 0; count < 101; count += 1) await connect(crowded, `Client ${count}`);
    const rows = async (page: string) =>
      [...(await crowded.browser.get(page)).text.matchAll(/<bdi>Client \d+<\/bdi>/g)].length;
    expect([await rows(path), await rows(`${path}?page=2`), await rows(`${path}?page=9`)]).toEqual([100, 1, 100]);
  });
});
