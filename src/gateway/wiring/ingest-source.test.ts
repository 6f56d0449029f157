import { describe, expect, it } from '@jest/globals';
import { newId } from '../../contract/core/index.ts';
import { configSchema } from '../config/schema.ts';
import { collectorSource, describeIngest, ingestSource } from './ingest-source.ts';

describe('the ingest configuration', () => {
  it('is read, never made: without a token it says who makes one', async () => {
    const source = ingestSource({ current: async () => undefined }, 'http://127.0.0.1:8080');
    await expect(source.config(newId('org'))).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('sightline ingest rotate'),
    });
  });

  it('is the endpoint with the present token', async () => {
    const source = ingestSource({ current: async () => 'it_x' }, 'http://127.0.0.1:8080');
    expect(await source.config(newId('org'))).toMatchObject({
      endpoint: 'http://127.0.0.1:8080',
      token: 'it_x',
      headers: { 'x-api-key': 'it_x' },
    });
  });
});

describe('the endpoint for gRPC', () => {
  const described = async (url: string, grpc?: { port: number }) =>
    describeIngest(await ingestSource({ current: async () => 'it_x' }, url, grpc).config(newId('org'))).grpc_endpoint;

  it('is named where it is on: the listener itself, or behind TLS the proxy at the usual port', async () => {
    expect(await described('http://10.0.0.1:8080')).toBeUndefined();
    expect(await described('http://10.0.0.1:8080', { port: 14_317 })).toBe('http://10.0.0.1:14317');
    expect(await described('http://[::1]:8080', { port: 4_317 })).toBe('http://[::1]:4317');
    expect(await described('https://sightline.example.com/base', { port: 14_317 })).toBe(
      'https://sightline.example.com:4317',
    );
    expect(await described('http://10.0.0.1:8080', { port: 0 })).toBeUndefined();
  });
});

describe("a company's own collector", () => {
  const acme = newId('org');
  const globex = newId('org');
  const directory = {
    findOrganization: async (id: string) => {
      const name = id === acme ? 'Acme & Co' : id === globex ? 'globex' : undefined;
      return name === undefined ? undefined : { id: id === acme ? acme : globex, name, createdAt: new Date(0) };
    },
  };
  const collector = (section: object) => {
    const { ingest } = configSchema.parse({ ingest: { collector: { endpoint: 'https://otel.example/', ...section } } });
    if (ingest.collector === undefined) throw new Error('there is a collector');
    return collectorSource(ingest.collector, directory);
  };

  it('has its token and headers made from the template', async () => {
    const source = collector({
      token: 'k-{organization}-{organization_id}',
      headers: { 'X-Key': '{token}', 'X-Scope-OrgID': '{organization}' },
    });
    expect(await source.config(acme)).toEqual({
      endpoint: 'https://otel.example',
      protocol: 'http/protobuf',
      token: `k-Acme%20%26%20Co-${acme}`,
      headers: { 'X-Key': `k-Acme%20%26%20Co-${acme}`, 'X-Scope-OrgID': 'Acme%20%26%20Co' },
    });
  });

  it('gives the token of a name to nobody whose name is another for the directory', async () => {
    const lunate = { id: newId('org'), name: '\u03f9ast', createdAt: new Date(0) };
    const small = { id: newId('org'), name: '\u03f2ast', createdAt: new Date(0) };
    const { ingest } = configSchema.parse({
      ingest: { collector: { endpoint: 'https://otel.example/', tokens: { '\u03f9AST': 'secret' } } },
    });
    if (ingest.collector === undefined) throw new Error('there is a collector');
    const source = collectorSource(ingest.collector, {
      findOrganization: async (id) => [lunate, small].find((organization) => organization.id === id),
    });
    expect(await source.config(lunate.id)).toMatchObject({ token: 'secret' });
    await expect(source.config(small.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('may give each organization a token of its own, and then no other has one', async () => {
    const source = collector({ tokens: { 'acme & co': 'one', [globex]: 'two{token}' } });
    expect(await source.config(acme)).toMatchObject({ token: 'one', headers: { Authorization: 'Bearer one' } });
    expect(await source.config(globex)).toMatchObject({ token: 'two' });
    await expect(collector({ tokens: { globex: 'x' } }).config(acme)).rejects.toMatchObject({ code: 'not_found' });
    await expect(source.config(newId('org'))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is described to senders in its own protocol', async () => {
    const described = describeIngest(await collector({ token: 't', protocol: 'grpc' }).config(acme));
    expect(described).toMatchObject({
      protocol: 'grpc',
      signals: { traces: 'https://otel.example' },
      env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20t' },
    });
    expect(described.collector_yaml).toContain('otlp_grpc/sightline:');
  });

  it.each([
    ['a header that is none', { token: 't', headers: { 'X\nY': 'v' } }],
    ['a value with a line break', { token: 'a\nb' }],
    ['an endpoint that is none', { endpoint: 'otel:4317', token: 't' }],
  ])('is refused with %s', (_name, section) => {
    expect(configSchema.safeParse({ ingest: { collector: { endpoint: 'https://x', ...section } } }).success).toBe(
      false,
    );
  });
});
