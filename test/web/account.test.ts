import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/contract/core/index.ts';
import type { Organization, User } from '../../src/contract/storage/index.ts';
import { openSite, password, type Site } from './support/site.ts';
import type { TestBrowser } from './support/test-browser.ts';

const operator = { kind: 'operator', id: 'root', name: 'root' } as const;

describe('the pages of an account', () => {
  let site: Site;
  let acme: Organization;
  let ada: User;
  let browser: TestBrowser;
  beforeEach(async () => {
    site = await openSite();
    acme = await site.organization('acme');
    ada = await site.person('ada@acme.example', [[acme, 'admin']]);
    browser = site.browser();
  });
  afterEach(() => site.close());

  it.each(['constructor', '__proto__', 'toString', 'nothing'])(
    'say nothing was done that was not: %s',
    async (done) => {
      await browser.signIn('ada@acme.example', password);
      const { status, text } = await browser.get(`/account?done=${done}`);
      expect(status).toBe(200);
      expect(text).not.toContain('role="status"');
    },
  );

  describe('changing the password', () => {
    const next = 'a wholly different sentence';

    it('ends every other session, and goes on in this browser under a new one', async () => {
      const other = site.browser();
      await other.signIn('ada@acme.example', password);
      await browser.signIn('ada@acme.example', password);
      const before = browser.cookies.get(browser.sessionCookie);
      const answer = await browser.submit('/account', { current: password, next }, '/account/password');
      expect(answer.headers.location).toBe('/account?done=password');
      expect(browser.cookies.get(browser.sessionCookie)).not.toBe(before);
      expect((await browser.get('/account?done=password')).text).toContain('The password was changed');
      expect((await other.get('/account')).status).toBe(303);
      expect((await site.browser().signIn('ada@acme.example', password)).status).toBe(403);
      expect((await site.browser().signIn('ada@acme.example', next)).status).toBe(303);
    });

    it('disconnects what was connected where that is wished, and by a link unless it is not', async () => {
      const globex = await site.organization('globex');
      await site.storage.workspace(globex.id).members.add(ada.id, 'member');
      const bob = await site.person('bob@acme.example', [[acme, 'member']]);
      const connect = async (organization: Organization, { id: userId }: User) => {
        const id = newId('gra');
        await site.storage.workspace(organization.id).grants.create({
          id,
          userId,
          clientId: 'c',
          clientName: 'C',
          redirectOrigin: 'c:',
          scopes: ['incidents:read'],
        });
        return async () => (await site.storage.directory.liveGrant(id)) !== undefined;
      };
      const [here, there, others] = [await connect(acme, ada), await connect(globex, ada), await connect(acme, bob)];
      const alive = async () => [await here(), await there(), await others()];
      await browser.signIn('ada@acme.example', password);
      await browser.submit('/account', { current: password, next }, '/account/password');
      expect(await alive()).toEqual([true, true, true]);
      const form = { current: next, next: `${next}!`, applications: 'disconnect' };
      await browser.submit('/account', form, '/account/password');
      expect(await alive()).toEqual([false, false, true]);

      const again = await connect(acme, ada);
      const { token } = await site.people.createPasswordLink(ada.id, operator);
      const link = `/password?token=${token}`;
      expect((await site.browser().get(link)).text).toMatch(/name="applications"[^>]*checked/);
      await site.browser().submit(link, { password: next, applications: 'disconnect' });
      expect(await again()).toBe(false);
      expect(await others()).toBe(true);
    });

    it('shows in place what is wrong, and changes nothing', async () => {
      await browser.signIn('ada@acme.example', password);
      const wrong = await browser.submit('/account', { current: 'not it', next }, '/account/password');
      expect(wrong.status).toBe(403);
      expect(wrong.text).toContain('role="alert"');
      const weak = await browser.submit('/account', { current: password, next: 'short' }, '/account/password');
      expect(weak.status).toBe(400);
      expect(weak.text).toContain('at least 10 characters');
      expect((await site.browser().signIn('ada@acme.example', password)).status).toBe(303);
    });
  });

  describe('connected applications', () => {
    const connect = (user: User, clientName: string) => {
      const id = newId('gra');
      const grant = { id, userId: user.id, clientId: 'c', clientName, redirectOrigin: 'cursor:' };
      return site.storage
        .workspace(acme.id)
        .grants.create({ ...grant, scopes: ['incidents:read'] })
        .then(() => id);
    };

    it("are the person's own, and end with a press of a button", async () => {
      const bob = await site.person('bob@acme.example', [[acme, 'member']]);
      const [mine, theirs] = [await connect(ada, 'Cursor <1>'), await connect(bob, 'Of Bob')];
      await browser.signIn('ada@acme.example', password);
      const page = await browser.get('/account');
      expect(page.text).toContain('Cursor &#60;1&#62;');
      expect(page.text).not.toContain('Of Bob');

      const answer = await browser.submit('/account', { grant: mine }, '/account/applications/revoke');
      expect(answer.headers.location).toBe('/account?done=application');
      expect(await site.storage.directory.liveGrant(mine)).toBeUndefined();

      const csrf = await browser.csrf('/account');
      for (const grant of [theirs, newId('gra'), 'gra_x', '']) {
        expect((await browser.post('/account/applications/revoke', { csrf, grant })).status).toBe(404);
      }
      expect(await site.storage.directory.liveGrant(theirs)).toBeDefined();
    });
  });

  it('shows a hundred applications at once, and links to the others', async () => {
    for (let count = 0; count < 101; count += 1) {
      await site.storage.workspace(acme.id).grants.create({
        id: newId('gra'),
        userId: ada.id,
        clientId: 'c',
        clientName: `Client ${count}`,
        redirectOrigin: 'cursor:',
        scopes: ['incidents:read'],
      });
    }
    await browser.signIn('ada@acme.example', password);
    const shown = async (path: string) => [...(await browser.get(path)).text.matchAll(/<bdi>Client \d+</g)].length;
    expect([await shown('/account'), await shown('/account?page=2')]).toEqual([100, 1]);
  });

  describe('organizations', () => {
    it('are chosen among by who has several, and nobody sees another', async () => {
      const labs = await site.organization('Labs & "Sons"');
      const strangers = await site.organization('strangers');
      await site.storage.workspace(labs.id).members.add(ada.id, 'member');
      const signedIn = await browser.signIn('ada@acme.example', password, '/members');
      expect(signedIn.headers.location).toBe('/members');
      const turned = await browser.get('/members');
      expect(turned.headers.location).toBe('/organizations?return_to=%2Fmembers');
      const choice = await browser.get(turned.headers.location ?? '');
      expect(choice.text).toContain('Labs &#38; &#34;Sons&#34;');
      expect(choice.text).not.toContain('strangers');

      const csrf = await browser.csrf('/organizations');
      const chosen = await browser.post('/organizations', { csrf, organization: labs.id, return_to: '/members' });
      expect(chosen.headers.location).toBe('/members');
      expect((await browser.get('/account')).text).toContain('Labs &#38; &#34;Sons&#34;, as member');
      for (const organization of [strangers.id, newId('org'), 'acme', '']) {
        expect((await browser.post('/organizations', { csrf, organization })).status).toBe(403);
      }
      expect((await browser.get('/account')).text).toContain('Labs &#38; &#34;Sons&#34;, as member');
    });

    it('that a person was removed from are shown no more, with the next request', async () => {
      await browser.signIn('ada@acme.example', password);
      expect((await browser.get('/members')).status).toBe(200);
      await site.storage.workspace(acme.id).members.remove(ada.id);
      expect((await browser.get('/members')).headers.location).toBe('/organizations?return_to=%2Fmembers');
      expect((await browser.get('/organizations')).text).toContain('belongs to no organization');
      expect((await browser.get('/account')).status).toBe(200);
    });

    it('show nothing to an account that was disabled, with the next request', async () => {
      await browser.signIn('ada@acme.example', password);
      await site.people.setEnabled(ada.id, false, operator);
      expect((await browser.get('/account')).status).toBe(303);
    });
  });

  describe('a link to set a password', () => {
    it('works once, and not by being looked at', async () => {
      const old = site.browser();
      await old.signIn('ada@acme.example', password);
      const { token } = await site.people.createPasswordLink(ada.id, operator);
      const path = `/password?token=${token}`;
      for (const look of [1, 2]) expect([look, (await browser.get(path)).status]).toEqual([look, 200]);
      const weak = await browser.submit(path, { password: 'short' });
      expect([weak.status, weak.headers['set-cookie']]).toEqual([400, undefined]);

      const answer = await browser.submit(path, { password: 'a wholly different sentence' });
      expect([answer.status, answer.headers.location]).toEqual([303, '/incidents']);
      expect((await browser.get('/account')).text).toContain('ada@acme.example');
      expect((await old.get('/account')).status).toBe(303);
      expect((await site.browser().get(path)).status).toBe(404);
      const again = site.browser();
      const csrf = await again.csrf('/sign-in');
      expect((await again.post('/password', { csrf, token, password: 'yet another sentence' })).status).toBe(404);
      expect(site.log.join('\n')).not.toContain(token);
    });

    it.each(['', '?token=', '?token=pwd_x', `?token=${'x'.repeat(300)}`, '?token=a&token=b'])(
      'that is none is not found: %s',
      async (query) => {
        expect((await browser.get(`/password${query}`)).status).toBe(404);
      },
    );
  });

  describe('an invitation', () => {
    const invite = async (email: string) =>
      (await site.people.invite({ organizationId: acme.id, email, role: 'member', actor: operator })).token;

    it('makes an account, signs it in, and is not used up by being looked at', async () => {
      const token = await invite('bob@acme.example');
      const path = `/invitation?token=${token}`;
      await browser.get(path);
      const page = await browser.get(path);
      expect(page.text).toContain('bob@acme.example');
      const weak = await browser.submit(path, { name: 'Bob <b>', password: 'short' });
      expect(weak.status).toBe(400);
      expect(weak.text).toContain('value="Bob &#60;b&#62;"');
      const answer = await browser.submit(path, { name: 'Bob', password });
      expect(answer.headers.location).toBe('/incidents');
      expect((await browser.get('/account')).text).toContain('acme, as member');
      expect((await site.browser().get(path)).status).toBe(404);
      expect(site.log.join('\n')).not.toContain(token);
    });

    it('is accepted by the account it is for, once that has signed in', async () => {
      const labs = await site.organization('labs');
      await site.person('bob@acme.example', [[labs, 'member']]);
      const path = `/invitation?token=${await invite('bob@acme.example')}`;
      const page = await browser.get(path);
      expect(page.text).not.toContain('type="password"');
      const signIn = /href="(\/sign-in\?[^"]*)"/.exec(page.text)?.[1] ?? '';
      const back = await browser.submit(signIn, { email: 'bob@acme.example', password }, '/sign-in');
      expect(back.headers.location).toBe(path);
      expect((await browser.submit(path, {})).headers.location).toBe('/incidents');
      // The organization is the one that the pages show now.
      expect((await browser.get('/account')).text).toContain('acme, as member');
    });

    it('is not accepted by another account, which can make way for it', async () => {
      const token = await invite('bob@acme.example');
      await browser.signIn('ada@acme.example', password);
      const page = await browser.get(`/invitation?token=${token}`);
      expect(page.text).toContain('The invitation is for bob@acme.example alone.');
      const csrf = await browser.csrf('/account');
      expect((await browser.post('/invitation', { csrf, token })).status).toBe(403);
      expect(await site.people.invitation(token)).toBeDefined();

      const out = await browser.submit(`/invitation?token=${token}`, {}, '/sign-out');
      expect(out.headers.location).toBe(`/sign-in?return_to=%2Finvitation%3Ftoken%3D${token}`);
    });

    it('sets no password for an account that there is already', async () => {
      const token = await invite('bob@acme.example');
      await site.person('bob@acme.example');
      const csrf = await browser.csrf('/sign-in');
      const fields = { csrf, token, name: 'Bob', password: 'the one who invited chose this' };
      expect((await browser.post('/invitation', fields)).status).toBe(403);
      expect((await site.browser().signIn('bob@acme.example', fields.password)).status).toBe(403);
    });

    it('that was taken back is not found', async () => {
      const input = { organizationId: acme.id, email: 'bob@acme.example', role: 'member', actor: operator } as const;
      const { token, invitation } = await site.people.invite(input);
      await site.people.revokeInvitation(acme.id, invitation.id, operator);
      expect((await browser.get(`/invitation?token=${token}`)).status).toBe(404);
    });
  });
});
