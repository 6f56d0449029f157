import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Sandbox, type Ended } from './support/cli.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await Sandbox.create();
  await box.run('org', 'create', 'Acme');
});
afterEach(() => box.remove());

const link = /^http:\/\/127\.0\.0\.1:8080\/password\?token=pwd_[A-Za-z0-9_-]{43}$/m;

function answer<Shape extends z.ZodType>(shape: Shape, { code, stdout, stderr }: Ended): z.output<Shape> {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return shape.parse(JSON.parse(stdout));
}

const create = (...more: string[]) => box.run('user', 'create', '--email', 'ada@example.com', '--org', 'Acme', ...more);

describe('people on the command line', () => {
  it('are made with a link by which they set a password, which is made once, and again when asked for', async () => {
    const made = await create('--role', 'admin');
    expect(made.stdout).toContain('is an admin of Acme');
    expect(made.stdout).toMatch(link);
    const asked = await box.run('user', 'password', 'Ada@example.com');
    expect(asked.stdout).toMatch(link);
    expect(asked.stdout.match(link)?.[0]).not.toBe(made.stdout.match(link)?.[0]);
    const unknown = await box.run('user', 'password', 'nobody@example.com', '--json');
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('not_found')]);
  });

  it('keep their role where none is named, and are told of another', async () => {
    await create('--role', 'admin');
    await box.run('user', 'create', '--email', 'bob@example.com', '--org', 'Acme', '--role', 'admin');
    expect((await create()).stdout).toContain('is an admin of Acme.');
    expect((await create('--role', 'member')).stdout).toContain('is a member of Acme, and was an admin.');
    const asked = answer(z.looseObject({ role: z.string() }), await create('--json'));
    expect(asked).toMatchObject({ role: 'member' });
    expect(asked).not.toHaveProperty('role_before');
  });

  it('are led to where the gateway runs, or to where it is configured to be', async () => {
    const { url } = await box.serve('--no-demo');
    const { password_url } = answer(z.looseObject({ password_url: z.string() }), await create('--json'));
    expect(password_url.startsWith(`${url}/password?token=`)).toBe(true);
    const page = await fetch(password_url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('ada@example.com')]);
    expect((await fetch(`${url}/password?token=pwd_${'x'.repeat(43)}`)).status).toBe(404);

    const config = join(box.directory, 'public.yaml');
    await writeFile(config, 'publicUrl: https://mcp.example.com\nauthUrl: https://login.example.com/x\n');
    const asked = await box.run('user', 'password', 'ada@example.com', '--json', '--config', config);
    expect(asked.stdout).toContain('"url":"https://login.example.com/x/password?token=');
  });

  it('are made without a link where the gateway has no port yet', async () => {
    const refused = await create('--port', '0', '--json');
    expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining('unavailable')]);
    expect((await box.run('user', 'list')).stdout).not.toContain('ada@example.com');
  });

  it('have no password where another issuer signs them in', async () => {
    const config = join(box.directory, 'elsewhere.yaml');
    await writeFile(config, 'issuer:\n  plugin: elsewhere\n');
    const made = await create('--config', config);
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('the issuer plugin elsewhere')]);
    expect(made.stdout).not.toContain('token=');
    expect(JSON.parse((await create('--config', config, '--json')).stdout)).not.toHaveProperty('password_url');
    const asked = await box.run('user', 'password', 'ada@example.com', '--config', config, '--json');
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('issuer plugin elsewhere')]);
    const invited = await box.run('user', 'invite', '--email', 'b@example.com', '--org', 'Acme', '--config', config);
    expect(invited.stdout).toContain('/invitation?token=invt_');
  });

  it('are disabled, which ends their links, and enabled', async () => {
    await create();
    expect((await box.run('user', 'disable', 'ada@example.com')).stdout).toContain('is disabled');
    expect((await box.run('user', 'list')).stdout).toContain('member (disabled)');
    expect((await box.run('user', 'password', 'ada@example.com')).stderr).toContain('is disabled');
    const enabled = await box.run('user', 'enable', 'ada@example.com', '--json');
    expect(answer(z.looseObject({ enabled: z.boolean() }), enabled).enabled).toBe(true);
    expect((await box.run('user', 'password', 'ada@example.com')).code).toBe(0);
    expect((await box.run('user', 'disable', 'nobody@example.com')).code).toBe(1);
  });

  it('are listed though they are of no organization, so that they can be locked out', async () => {
    const { id } = answer(z.looseObject({ id: z.string() }), await create('--json'));
    await box.run('org', 'delete', 'Acme', '--yes');
    const listed = await box.run('user', 'list', '--json');
    const alone = { id, email: 'ada@example.com', name: 'ada@example.com', org: null, role: null, enabled: true };
    expect(answer(z.array(z.unknown()), listed)).toEqual([alone]);
    await box.run('user', 'disable', 'ada@example.com');
    expect((await box.run('user', 'list')).stdout).toMatch(
      /^ada@example.com +ada@example.com +– +– \(disabled\) +usr_/m,
    );
  });

  it('are invited by a link, unless they are members', async () => {
    const shape = z.strictObject({
      id: z.string().regex(/^invt_/),
      email: z.literal('new@example.com'),
      org: z.literal('Acme'),
      role: z.literal('admin'),
      url: z.string().regex(/^http:\/\/127\.0\.0\.1:8080\/invitation\?token=invt_[\w-]{43}$/),
      expires_at: z.iso.datetime(),
    });
    const invite = (email: string) =>
      box.run('user', 'invite', '--email', email, '--org', 'Acme', '--role', 'admin', '--json');
    answer(shape, await invite('new@example.com'));
    await create();
    const again = await invite('ada@example.com');
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('member already')]);
    expect((await invite('nobody')).code).toBe(2);
  });

  it('leave the last admin in place', async () => {
    await create('--role', 'admin');
    const demoted = await create('--role', 'member', '--json');
    expect([demoted.code, demoted.stderr]).toEqual([1, expect.stringContaining('only admin')]);
  });

  it('are exported and deleted, once that was said twice', async () => {
    await create('--role', 'admin');
    await box.run('user', 'create', '--email', 'root@example.com', '--org', 'Acme', '--role', 'admin');
    const file = join(box.directory, 'ada.jsonl');
    await box.run('user', 'export', 'ada@example.com', file);
    const kept = await readFile(file, 'utf8');
    expect(kept).toContain('"type":"account"');
    expect(kept).toContain('"event":"person.joined"');
    expect(kept).not.toContain('root@example.com');
    expect((await box.run('user', 'export', 'ada@example.com', file)).code).toBe(2);
    expect((await box.run('user', 'delete', 'ada@example.com')).stdout).toContain('Nothing was deleted: say --yes');
    expect((await box.run('user', 'list')).stdout).toContain('ada@example.com');
    expect((await box.run('user', 'delete', 'ada@example.com', '--yes')).stdout).toContain('is deleted');
    expect((await box.run('user', 'list')).stdout).not.toContain('ada@example.com');
    const last = await box.run('user', 'delete', 'root@example.com', '--yes');
    expect([last.code, last.stderr]).toEqual([1, expect.stringContaining('only admin')]);
    expect((await box.run('audit', 'verify')).code).toBe(0);
  });
});
