import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Sandbox } from '../support/cli.ts';
import { schemas } from './support.ts';

const config = `
scim:
  organizations:
    - organization: Acme
      emailDomain: acme.example
      adminGroup: Sightline admins
`;

describe('SCIM on a gateway', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.create();
    await writeFile(join(box.directory, 'sightline.config.yaml'), config);
    await box.run('org', 'create', 'Acme');
    await box.run('org', 'create', 'Globex');
  });
  afterEach(() => box.remove());

  it('says behind a token that opens nothing what has to be configured', async () => {
    const said = /SCIM is not configured for Globex, .* refused\. Set scim\.organizations in the config/;
    expect((await box.run('scim', 'create', '--org', 'Globex')).stdout).toMatch(said);
    expect(JSON.parse((await box.run('scim', 'create', '--org', 'Globex', '--json')).stdout)).toMatchObject({
      note: expect.stringMatching(said),
    });
    expect((await box.run('scim', 'create', '--org', 'Acme')).stdout).not.toContain('configured');
  });

  it('provisions people with a token of the command line, by which nothing else is opened', async () => {
    const { url } = await box.serve('--no-demo');
    const made = z.object({ id: z.string(), address: z.string(), token: z.string() });
    const { id, address, token } = made.parse(
      JSON.parse((await box.run('scim', 'create', '--org', 'Acme', '--json')).stdout),
    );
    expect(address).toBe(`${url}/scim/v2`);
    const send = (to: string, bearer: string, body?: object) =>
      fetch(to, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const user = { schemas: [schemas.user], userName: 'ada@acme.example', displayName: 'Ada' };
    expect((await send(`${address}/Users`, token, user)).status).toBe(201);
    expect((await box.run('user', 'list')).stdout).toContain('ada@acme.example');

    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    expect((await send(`${url}/mcp`, token, list)).status).toBe(401);
    const logs = { resourceLogs: [] };
    expect((await send(`${url}/v1/logs`, token, logs)).status).toBe(401);
    const pair = z.object({ client_id: z.string(), client_secret: z.string() });
    const ran = await box.run('key', 'create', '--org', 'Acme', '--name', 'x', '--scopes', 'telemetry:read', '--json');
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const key = pair.parse(JSON.parse(ran.stdout));
    const exchanged = await fetch(`${url}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', ...key }),
    });
    const { access_token: access } = z.object({ access_token: z.string() }).parse(await exchanged.json());
    expect((await send(`${url}/mcp`, access, list)).status).toBe(200);
    for (const other of [key.client_secret, access]) {
      expect((await send(`${address}/Users`, other)).status).toBe(401);
    }
    const asSecret = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: key.client_id,
      client_secret: token,
    });
    expect((await fetch(`${url}/oauth2/token`, { method: 'POST', body: asSecret })).status).toBe(401);

    const listed = await box.run('scim', 'list', '--org', 'Acme');
    expect(listed.stdout).toContain(id);
    expect(listed.stdout).toContain(token.slice(-4));
    expect(listed.stdout).not.toContain(token);
    expect((await box.run('scim', 'revoke', id, '--org', 'Globex')).code).toBe(1);
    expect((await box.run('scim', 'revoke', id, '--org', 'Acme')).stdout).toContain('is revoked');
    expect((await send(`${address}/Users`, token)).status).toBe(401);
    expect((await box.run('audit', 'verify', '--org', 'Acme')).code).toBe(0);
  });
});
