import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/contract/core/index.ts';
import { cancelChat } from '../../src/incidents/investigation/worker.ts';
import { chatPages, incidentPages, integrationPages, memberPages, telemetryPages } from '../../src/web/pages/index.ts';
import { silentLogger } from '../contract/host.ts';
import type { RawAnswer } from '../support/raw-http.ts';
import type { TestBrowser } from './support/test-browser.ts';
import { engine, nobodys, openWorkplace, operator, type Colleague, type Workplace } from './support/workplace.ts';

/** What each is answered: 405 where there is no such method. `outsider` is an admin of another organization. */
interface Expected {
  /** With the ids of what is there. */
  readonly path: string;
  /** The same with ids that are nobody's, where there are any. */
  readonly nobodys?: string;
  readonly get: Statuses;
  readonly post: Statuses;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Of a member, an admin and an outsider; a POST by an admin is made in the tests of the pages. */
type Statuses = readonly [member: number, admin: number, outsider: number];

const everybody: Statuses = [200, 200, 200];
const ours: Statuses = [200, 200, 404];
const admins: Statuses = [403, 200, 404];
const none: Statuses = [405, 405, 405];
const forbidden: Statuses = [403, 0, 404];
const nothingToChange = { get: everybody, post: none };

describe('who may open which page', () => {
  let place: Workplace;
  let member: Colleague;
  let admin: Colleague;
  let outsider: Colleague;
  let table: Readonly<Record<string, Expected>>;

  beforeAll(async () => {
    place = await openWorkplace();
    const { workspace, organization, site } = place;
    member = await place.enter('member', 'mia@acme.example');
    admin = await place.enter('admin', 'ada@acme.example');
    outsider = await place.enter('admin', 'oskar@globex.example', place.elsewhere);
    const author = { kind: 'user', id: admin.user.id, name: admin.user.email } as const;
    const incident = await workspace.incidents.create(
      { title: 'Checkout fails', severity: 'high', source: 'test', startedAt: new Date(), document: '# Seen' },
      operator,
    );
    const asked = { title: 'Why?', message: 'Why?', author, engine, incidentId: incident.id };
    const { chat } = await workspace.chats.start(asked);
    // Its news come to an end.
    const { chat: over } = await workspace.chats.start({ ...asked, incidentId: undefined });
    await cancelChat(workspace, over.id, author, silentLogger);
    const key = await workspace.keys.create({
      id: newId('ak'),
      name: 'CI',
      scopes: ['telemetry:read'],
      secret: { id: newId('sec'), hash: 'a'.repeat(64), lastFour: 'aaaa' },
      createdBy: admin.user.id,
    });
    await workspace.keys.addSecret(key.id, { id: newId('sec'), hash: 'b'.repeat(64), lastFour: 'bbbb' });
    const grant = newId('gra');
    await workspace.grants.create({
      id: grant,
      userId: admin.user.id,
      clientId: 'https://client.example/metadata',
      clientName: 'Editor',
      redirectOrigin: 'https://client.example',
      scopes: ['telemetry:read'],
    });
    const { invitation } = await site.people.invite({
      organizationId: organization.id,
      email: 'new@acme.example',
      role: 'member',
      actor: operator,
    });
    const [incidents, chats, keys] = ['/incidents', '/chats', '/integrations/api-keys'];
    const keyAt = (action: string) => ({
      path: `${keys}/${key.id}${action}`,
      nobodys: `${keys}/${nobodys.key}${action}`,
    });
    const alertSource = newId('als');
    await workspace.alertSources.create({
      id: alertSource,
      name: 'Alertmanager',
      plugin: 'generic',
      sealed: 'sealed',
      createdBy: 'ada',
    });
    const scimToken = await site.scimTokens.create(organization.id, operator);
    const sourceAt = (action: string) => ({
      path: `/integrations/alerts/${alertSource}${action}`,
      nobodys: `/integrations/alerts/${newId('als')}${action}`,
    });
    const memberAt = (action: string) => ({
      path: `/members/${member.user.id}/${action}`,
      nobodys: `/members/${nobodys.user}/${action}`,
    });
    const invitedAt = (action: string) => ({
      path: `/members/invitations/${invitation.id}${action}`,
      nobodys: `/members/invitations/${nobodys.invitation}${action}`,
    });
    table = {
      '/incidents': { path: incidents, ...nothingToChange },
      '/incidents/:key': {
        path: `/incidents/${incident.id}`,
        nobodys: `/incidents/${nobodys.incident}`,
        get: ours,
        post: none,
      },
      '/incidents/:key/evidence': {
        path: `/incidents/${incident.key}/evidence`,
        nobodys: '/incidents/INC-999/evidence',
        get: ours,
        post: none,
      },
      '/incidents/:key/change': {
        path: `/incidents/${incident.key}/change`,
        nobodys: '/incidents/INC-999/change',
        get: ours,
        post: [303, 0, 404],
        fields: {
          seen: String(incident.updatedAt.getTime()),
          status: 'investigating',
          severity: 'high',
          assignee: '',
          party: 'none',
          name: '',
          reason: '',
          resolution: '',
          duplicate_of: '',
        },
      },
      '/incidents/:key/document': {
        path: `/incidents/${incident.key}/document`,
        nobodys: '/incidents/INC-999/document',
        get: ours,
        post: none,
      },
      '/chats': { path: chats, ...nothingToChange },
      '/chats/new': {
        path: `/chats/new?incident=${incident.id}`,
        nobodys: `/chats/new?incident=${nobodys.incident}`,
        get: ours,
        post: [303, 0, 404],
        fields: { incident: incident.id, message: 'And why?', once: newId('msg') },
      },
      '/chats/:id': {
        path: `/chats/${chat.id}`,
        nobodys: `/chats/${nobodys.chat}`,
        get: ours,
        post: forbidden,
        fields: { message: 'I answer in their place', once: newId('msg') },
      },
      '/chats/:id/news': {
        path: `/chats/${over.id}/news`,
        nobodys: `/chats/${nobodys.chat}/news`,
        get: ours,
        post: none,
      },
      '/chats/:id/cancel': {
        path: `/chats/${chat.id}/cancel`,
        nobodys: `/chats/${nobodys.chat}/cancel`,
        get: none,
        post: forbidden,
      },
      '/members': {
        path: '/members',
        get: everybody,
        post: [403, 0, 303],
        fields: { email: 'x@y.example', role: 'member' },
      },
      '/members/:id/role': { ...memberAt('role'), get: none, post: forbidden, fields: { role: 'admin' } },
      '/members/:id/remove': { ...memberAt('remove'), get: admins, post: forbidden },
      '/members/invitations/:id': { ...invitedAt(''), get: admins, post: none },
      '/members/invitations/:id/revoke': { ...invitedAt('/revoke'), get: admins, post: forbidden },
      // Of the telemetry each sees their own organization's: test/web/explore.test.ts. Here is no warehouse.
      '/explore': { path: '/explore', get: everybody, post: [503, 0, 503], fields: { sql: 'SELECT 1' } },
      '/explore/traces': { path: `/explore/traces?id=${'a'.repeat(32)}`, get: [303, 303, 303], post: none },
      '/explore/traces/:id': { path: `/explore/traces/${'a'.repeat(32)}`, get: everybody, post: [503, 0, 503] },
      '/telemetry': { path: '/telemetry', get: everybody, post: [200, 0, 200] },
      '/integrations': { path: '/integrations', get: [303, 303, 303], post: none },
      '/integrations/api-keys': {
        path: keys,
        get: [403, 200, 200],
        post: [403, 0, 303],
        fields: { name: 'Mine', scopes: 'telemetry:read' },
      },
      '/integrations/api-keys/:id': { ...keyAt(''), get: admins, post: none },
      '/integrations/api-keys/:id/rotate': { ...keyAt('/rotate'), get: none, post: forbidden },
      '/integrations/api-keys/:id/retire': { ...keyAt('/retire'), get: admins, post: forbidden },
      '/integrations/api-keys/:id/discard': { ...keyAt('/discard'), get: admins, post: forbidden },
      '/integrations/api-keys/:id/pause': { ...keyAt('/pause'), get: admins, post: forbidden },
      '/integrations/api-keys/:id/resume': { ...keyAt('/resume'), get: none, post: forbidden },
      '/integrations/api-keys/:id/revoke': { ...keyAt('/revoke'), get: admins, post: forbidden },
      '/integrations/telemetry': { path: '/integrations/telemetry', ...nothingToChange },
      '/integrations/telemetry/rotate': {
        path: '/integrations/telemetry/rotate',
        get: [403, 200, 200],
        post: [403, 0, 303],
        fields: { before: 'keep' },
      },
      '/integrations/telemetry/tokens/:id/end': {
        path: `/integrations/telemetry/tokens/${(await workspace.ingestTokens.current())?.id ?? ''}/end`,
        nobodys: `/integrations/telemetry/tokens/${newId('it')}/end`,
        get: admins,
        post: forbidden,
      },
      '/integrations/alerts': {
        path: '/integrations/alerts',
        get: [403, 200, 200],
        post: [403, 0, 303],
        fields: { name: 'Mine', plugin: 'generic' },
      },
      '/integrations/alerts/:id': { ...sourceAt(''), get: admins, post: none },
      '/integrations/alerts/:id/rotate': {
        ...sourceAt('/rotate'),
        get: admins,
        post: forbidden,
        fields: { secret: 'of-the-sender-0123456789' },
      },
      '/integrations/alerts/:id/remove': { ...sourceAt('/remove'), get: admins, post: forbidden },
      '/integrations/provisioning': { path: '/integrations/provisioning', get: [403, 200, 200], post: [403, 0, 303] },
      '/integrations/provisioning/:id/end': {
        path: `/integrations/provisioning/${scimToken.id}/end`,
        nobodys: `/integrations/provisioning/${newId('sct')}/end`,
        get: admins,
        post: forbidden,
      },
      '/integrations/applications': { path: '/integrations/applications', ...nothingToChange },
      '/integrations/applications/:id/revoke': {
        path: `/integrations/applications/${grant}/revoke`,
        nobodys: `/integrations/applications/${nobodys.grant}/revoke`,
        // An application of somebody else: not even a member of the same organization sees it.
        get: [404, 200, 404],
        post: [404, 0, 404],
      },
    };
  });
  afterAll(() => place.close());

  const pages = [...incidentPages, ...chatPages, ...memberPages, ...telemetryPages, ...integrationPages].map(
    ({ path }) => path,
  );

  it('is told of every page there is', () => {
    expect(Object.keys(table).toSorted()).toEqual(pages.toSorted());
  });

  const rowOf = (path: string): Expected => {
    const row = table[path];
    if (row === undefined) throw new Error(`nothing is said about ${path}`);
    return row;
  };
  const postTo = async (browser: TestBrowser, { path, fields = {} }: Expected): Promise<RawAnswer> =>
    browser.post(path, { csrf: await browser.csrf('/account'), ...fields });
  const reading = async (browser: TestBrowser, path: string): Promise<number> => (await browser.get(path)).status;

  it.each(pages)('%s, read', async (page) => {
    const { path, get } = rowOf(page);
    const statuses = [member, admin, outsider].map(({ browser }) => reading(browser, path));
    expect(await Promise.all(statuses)).toEqual(get);
  });

  it.each(pages)('%s, changed by who may not', async (page) => {
    const row = rowOf(page);
    const [ofMember, , ofOutsider] = row.post;
    const before = await audited();
    expect((await postTo(outsider.browser, row)).status).toBe(ofOutsider);
    expect((await postTo(member.browser, row)).status).toBe(ofMember);
    // Refusals are in the audit, too, but nothing is there as done.
    expect((await audited()).slice(before.length)).toEqual([]);
  });

  async function audited(): Promise<readonly string[]> {
    const records = await place.workspace.audit.list({ limit: 1_000 });
    return records.filter(({ outcome }) => outcome === 'ok').map(({ event, target }) => `${event} ${target}`);
  }

  it.each(pages)('%s, by a browser that is not signed in', async (page) => {
    const { path, get } = rowOf(page);
    const nobody = place.site.browser();
    const csrf = await nobody.csrf('/sign-in');
    const read = await nobody.get(path);
    if (get !== none)
      expect([read.status, read.headers.location]).toEqual([303, expect.stringMatching(/^\/sign-in\?/)]);
    const posted = await nobody.post(path, { csrf });
    const location = posted.status === 405 ? undefined : expect.stringMatching(/^\/sign-in/);
    expect([303, 405]).toContain(posted.status);
    expect(posted.headers.location).toEqual(location);
  });

  it.each(pages)('%s, from a form that is not ours', async (page) => {
    const row = rowOf(page);
    if (row.post === none) return expect((await postTo(admin.browser, row)).status).toBe(405);
    const csrf = await admin.browser.csrf('/account');
    const fields = row.fields ?? {};
    const { browser } = admin;
    const attempts = [
      browser.post(row.path, fields),
      browser.post(row.path, { ...fields, csrf: await outsider.browser.csrf('/account') }),
      browser.post(row.path, { ...fields, csrf }, { 'sec-fetch-site': 'cross-site' }),
      browser.post(row.path, { ...fields, csrf }, { origin: 'https://evil.example' }),
    ];
    expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });

  it.each(pages)('%s of another organization is answered like what is not there', async (page) => {
    const row = rowOf(page);
    if (row.nobodys === undefined) return;
    const [ofMember] = row.get;
    // Another's application is hidden from a member of the same organization, too.
    for (const { browser } of ofMember === 404 ? [outsider, member] : [outsider]) {
      const [theirs, nobody] = await Promise.all([browser.get(row.path), browser.get(row.nobodys)]);
      expect([theirs.status, theirs.text]).toEqual([nobody.status, nobody.text]);
    }
  });

  it.each(pages)('%s asks the storage no more than seven times', async (page) => {
    const { path } = rowOf(page);
    place.site.calls();
    await admin.browser.get(path);

    expect(place.site.calls()).toBeLessThanOrEqual(7);
  });

  it.each(pages)('%s is kept by no cache, framed by nobody, and runs nothing that is not ours', async (page) => {
    const { headers } = await admin.browser.get(rowOf(page).path);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe');
  });
});
