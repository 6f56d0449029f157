import { expect, it } from '@jest/globals';
import { configSchema } from './config.ts';

const problems = (config: object) => {
  const { error } = configSchema.safeParse(config);
  return (error?.issues ?? []).map(({ message }) => message).join('\n');
};

it.each([
  'postgres://gateway:hid#den@warehouse/telemetry',
  'postgres://gateway:hidden@ware house/telemetry',
  'postgres://gateway:hidden@warehouse:99999/telemetry',
  'postgres://gate%way:hidden@warehouse/telemetry',
  'postgres://gateway:hid%den@warehouse/telemetry',
  'mysql://gateway:hidden@warehouse/telemetry',
])('says in the config what it cannot read of a URL, without the URL: %s', (url) => {
  for (const config of [{ url }, { connections: { acme: url } }, { ingest: { url } }]) {
    expect(problems(config)).toMatch(/postgres:\/\/user:password@host/);
    expect(problems(config)).not.toMatch(/hid/);
  }
});

it.each(['postgres://gateway:a%23b@warehouse:5433/telemetry?sslmode=require', 'postgresql://g@%2Fvar%2Frun/telemetry'])(
  'takes %s',
  (url) => expect(problems({ url })).toBe(''),
);
