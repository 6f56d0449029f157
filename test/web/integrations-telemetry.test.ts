import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashSecret, newId } from '../../src/contract/core/index.ts';
import { readable } from '../support/person.ts';
import { testVault } from '../contract/host.ts';
import { openWorkplace, type Colleague, type Workplace } from './support/workplace.ts';

const path = '/integrations/telemetry';

describe('the page of telemetry', () => {
  let place: Workplace;
  let admin: Colleague;
  let member: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    admin = await place.enter('admin', 'ada@acme.example');
    member = await place.enter('member', 'mia@acme.example');
  });
  afterAll(() => place.close());

  const token = async (): Promise<string> => (await place.ingestToken(place.organization.id)) ?? '';
  const accepted = async (shown: string): Promise<boolean> =>
    (await place.site.storage.directory.ingestTokenByHash(hashSecret(shown))) !== undefined;

  it('gives an admin everything a sender needs', async () => {
    const page = readable((await admin.browser.get(path)).text);
    const now = await token();
    expect(page).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${place.site.authUrl}`);
    expect(page).toContain(`OTEL_EXPORTER_OTLP_HEADERS=x-api-key=${now}`);
    expect(page).toContain(`headers: { x-api-key: "${now}" }`);
    for (const name of ['Node.js', 'Python', 'Kubernetes', 'Fluent Bit', 'Browser']) expect(page).toContain(name);
    expect(page).toContain(`${place.site.authUrl}/v1/traces`);
  });

  it('gives a member what their client gets from get_ingest_config, and nothing to change', async () => {
    const { text } = await member.browser.get(path);
    expect(readable(text)).toContain(`OTEL_EXPORTER_OTLP_HEADERS=x-api-key=${await token()}`);
    expect(readable(text)).toContain('opentelemetry-instrument python app.py');
    expect(text).not.toContain(`${path}/rotate`);
    expect(text).not.toContain('/end"');
    expect((await member.browser.get(`${path}/rotate`)).status).toBe(403);
  });

  it('lists for an admin the tokens that are taken, of this organization alone', async () => {
    const theirs = await place.site.storage.workspace(place.elsewhere.id).ingestTokens.current();
    const { text } = await admin.browser.get(path);
    const kept = await place.workspace.ingestTokens.list();
    for (const { id } of kept) expect(text).toContain(id);
    expect(readable(text)).toContain(`…${(await token()).slice(-4)}`);
    expect(text).not.toContain(theirs?.id ?? '');
    const end = `${path}/tokens/${theirs?.id ?? ''}/end`;
    expect((await admin.browser.get(end)).status).toBe(404);
    expect((await admin.browser.post(end, { csrf: await admin.browser.csrf('/account') })).status).toBe(404);
    expect(await place.site.storage.workspace(place.elsewhere.id).ingestTokens.current()).toEqual(theirs);
  });

  it('lets an admin rotate what another master key sealed, and says why it is not shown', async () => {
    const id = newId('it');
    const sealed = testVault().seal(Buffer.from('it_lost'), `ingest-token:${id}`);
    await place.workspace.ingestTokens.create({ id, hash: hashSecret('it_lost'), sealed, createdBy: 'system' });
    for (const at of [path, '/telemetry']) expect((await member.browser.get(at)).status).toBe(200);
    const { text } = await admin.browser.get(path);
    expect(readable(text)).toContain('was kept under another master key: it works, and cannot be shown.');
    expect(text).toContain(`href="${path}/rotate"`);
    await admin.browser.submit(`${path}/rotate`, { before: 'end' });
    expect(readable((await admin.browser.get(path)).text)).toContain(`x-api-key=${await token()}`);
  });

  it('rotates after asking: the token before works until it is ended', async () => {
    const before = await token();
    const rotated = await admin.browser.submit(`${path}/rotate`, { before: 'keep' });
    expect(rotated.headers.location).toBe(`${path}?done=rotated`);
    const after = await token();
    expect(after).not.toBe(before);
    expect([await accepted(before), await accepted(after)]).toEqual([true, true]);

    const page = await admin.browser.get(rotated.headers.location ?? '');
    const end = page.text.match(/href="[^"]*\/end"/g)?.[1]?.slice(6, -1) ?? '';
    expect((await admin.browser.submit(end, {})).headers.location).toBe(`${path}?done=ended`);
    expect([await accepted(before), await accepted(after)]).toEqual([false, true]);
    // As the back button leads there once more.
    expect((await admin.browser.get(end)).status).toBe(404);
    expect((await admin.browser.post(end, { csrf: await admin.browser.csrf('/account') })).status).toBe(404);
  });

  it('ends the token before at once where that is wished', async () => {
    const before = await token();
    await admin.browser.submit(`${path}/rotate`, { before: 'end' });
    expect([await accepted(before), await accepted(await token())]).toEqual([false, true]);
    const events = (await place.workspace.audit.list({ limit: 2 })).map(({ event, subject }) => [event, subject]);
    expect(events).toContainEqual(['ingest_token.revoked', admin.user.id]);
  });

  it('says nothing that others put into its address', async () => {
    for (const query of ['done=<script>alert(1)</script>', 'done=it_not-one', 'done=<b>']) {
      expect((await admin.browser.get(`${path}?${encodeURI(query)}`)).text).not.toMatch(/<script>alert|<b>|it_not-one/);
    }
  });
});

describe('the page of telemetry, with a collector of the company', () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await openWorkplace({
      collector: {
        endpoint: 'https://otel.acme.example',
        protocol: 'grpc',
        headers: { 'x-tenant': '{organization_id}', authorization: 'Basic {token}', 'x-gate': 'gate-secret' },
        token: 'collector-secret',
        tokens: {},
      },
    });
  });
  afterAll(() => place.close());

  it('shows that, and has nothing to rotate', async () => {
    const { browser } = await place.enter('admin', 'ada@acme.example');
    const { text } = await browser.get(path);
    expect(readable(text)).toContain('a collector of its own');
    expect(readable(text)).toContain('https://otel.acme.example');
    expect(readable(text)).toContain('"Basic collector-secret"');
    expect(text).not.toContain('rotate');
    expect((await browser.get(`${path}/rotate`)).status).toBe(404);
    expect((await browser.post(`${path}/rotate`, { csrf: await browser.csrf('/account'), before: 'end' })).status).toBe(
      404,
    );
  });

  it('gives a member what stands in its headers, as get_ingest_config does', async () => {
    const { browser } = await place.enter('member', 'mia@acme.example');
    const { text } = await browser.get(path);
    expect(readable(text)).toContain('https://otel.acme.example');
    expect(readable(text)).toContain('gate-secret');
  });
});
