import { describe, expect, it } from '@jest/globals';
import { configSchema, place, settingsOf } from './config.ts';
import { serverConfig } from './support/store.ts';

const messages = (config: unknown) => configSchema.safeParse(config).error?.issues.map(({ message }) => message);

describe('the configuration of a server', () => {
  it('is a URL or its parts, which say the same', async () => {
    const byUrl = settingsOf(
      serverConfig({ client: 'postgres', url: 'postgresql://u%40x:p%2Fw@db.example:5433/my%20db' }),
    );
    const parts = { host: 'db.example', port: '5433', user: 'u@x', password: 'p/w', database: 'my db' };
    const { password, ...byParts } = settingsOf(serverConfig({ client: 'postgres', ...parts }));
    expect(byUrl).toEqual({ ...byParts, password: expect.any(Function) });
    expect([await password(), await byUrl.password()]).toEqual(['p/w', 'p/w']);
    expect(byUrl).toMatchObject({ host: 'db.example', port: 5433, user: 'u@x', database: 'my db' });
    expect(settingsOf(serverConfig({ client: 'mysql', url: 'mysql://u:p@[::1]/d' }))).toMatchObject({
      host: '::1',
      port: 3306,
    });
    expect(place(byUrl)).toBe('database my db at db.example:5433, login u@x');
  });

  it('verifies certificates unless it says otherwise, and encrypts only when asked', () => {
    const tls = (ssl?: unknown) =>
      settingsOf(serverConfig({ client: 'mysql', url: 'mysql://u:p@h/d', ...(ssl !== undefined && { ssl }) })).tls;
    expect(tls()).toBe(false);
    expect(tls('true')).toEqual({ rejectUnauthorized: true });
    expect(tls({ ca: 'PEM' })).toEqual({ ca: 'PEM', rejectUnauthorized: true });
    expect(tls({ rejectUnauthorized: 'false' })).toEqual({ rejectUnauthorized: false });
  });

  it('gives every kind of work a connection of its own', () => {
    for (const max of [3, 4, 5, 6, 8, 10, 100]) {
      const { lookups, writers, readers } = settingsOf(
        serverConfig({ client: 'mysql', url: 'mysql://u:p@h/d', pool: { max } }),
      ).connections;
      expect(Math.min(lookups, writers, readers)).toBeGreaterThan(0);
      expect(lookups + writers + readers).toBe(max);
    }
  });

  it('refuses what is missing, twice there or not known, and quotes no secret', () => {
    const secret = 's3cr3t';
    for (const wrong of [
      { client: 'postgres' },
      { client: 'postgres', host: 'h', user: 'u' },
      { client: 'postgres', url: `postgres://u:${secret}@h/d`, host: 'h' },
      { client: 'postgres', url: `mysql://u:${secret}@h/d` },
      { client: 'postgres', url: `postgres://u:${secret}@h/d?sslmode=disable` },
      { client: 'postgres', url: `postgres://u:${secret}@h` },
      { client: 'postgres', url: `postgres://u:${secret}%zz@h/d` },
      { client: 'mysql', url: `postgres://u:${secret}@h/d` },
      { client: 'mysql', url: `mysql://u:${secret}@h/d`, filename: 'x' },
      { client: 'mysql', url: `mysql://u:${secret}@h/d`, pool: { max: 2 } },
      { client: 'mysql', url: `mysql://u:${secret}@h/d`, replica: 'x' },
      { client: 'pg', url: `postgres://u:${secret}@h/d` },
    ]) {
      expect(messages(wrong)).not.toBeUndefined();
      expect(String(messages(wrong))).not.toContain(secret);
    }
  });
});
