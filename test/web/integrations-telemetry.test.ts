import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashSecret } from '../../src/contract/core/index.ts';
import { readable } from '../support/person.ts';
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

  it('says when telemetry last came in, and what was refused', async () => {
    const { text } = await member.browser.get(path);
    expect(readable(text)).toContain('Telemetry last came in');
    expect(text).toContain('<code>cart</code>');
    expect(text).toContain('The body is not gzip.');
    expect(text).toContain('sdk&#60;1&#62;');
  });

  it('keeps the token from a member, in every form', async () => {
    const { text } = await member.browser.get(path);
    const now = await token();
    expect(readable(text)).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${place.site.authUrl}`);
    expect(readable(text)).toContain('An admin sees the token');
    expect(readable(text)).toContain('opentelemetry-instrument python app.py');
    expect(text).not.toContain(now.slice(3, 20));
    expect(text).not.toContain(`${path}/rotate`);
  });

  it('rotates after asking: the token before works until it is ended', async () => {
    const before = await token();
    const rotated = await admin.browser.submit(`${path}/rotate`, { before: 'keep' });
    expect(rotated.headers.location).toMatch(new RegExp(`^${path}\\?previous=it_[0-9a-z]{26}$`));
    const after = await token();
    expect(after).not.toBe(before);
    expect([await accepted(before), await accepted(after)]).toEqual([true, true]);

    const page = await admin.browser.get(rotated.headers.location ?? '');
    const end = /href="([^"]*\/end)"/.exec(page.text)?.[1] ?? '';
    expect((await admin.browser.submit(end, {})).headers.location).toBe(`${path}?done=ended`);
    expect([await accepted(before), await accepted(after)]).toEqual([false, true]);
    expect((await admin.browser.submit(end, {})).status).toBe(404);
  });

  it('ends the token before at once where that is wished', async () => {
    const before = await token();
    await admin.browser.submit(`${path}/rotate`, { before: 'end' });
    expect([await accepted(before), await accepted(await token())]).toEqual([false, true]);
    const events = (await place.workspace.audit.list({ limit: 2 })).map(({ event, subject }) => [event, subject]);
    expect(events).toContainEqual(['ingest_token.revoked', admin.user.id]);
  });

  it('says nothing that others put into its address', async () => {
    for (const query of ['previous=<script>alert(1)</script>', 'previous=it_not-one', 'done=<b>']) {
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

  it('keeps from a member what stands in its headers', async () => {
    const { browser } = await place.enter('member', 'mia@acme.example');
    const { text } = await browser.get(path);
    expect(readable(text)).toContain('https://otel.acme.example');
    expect(text).not.toMatch(/collector-secret|gate-secret/);
  });
});
