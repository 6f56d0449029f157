import { describe, expect, it } from '@jest/globals';
import { configSchema } from '../config/schema.ts';
import { deriveUrls } from './urls.ts';

const derive = (config: object, port = 8080) => deriveUrls(configSchema.parse(config), port);

describe('what follows from publicUrl and authUrl', () => {
  it('is loopback, under both its names, when neither is set', () => {
    expect(derive({}, 9001)).toMatchObject({
      publicUrl: 'http://127.0.0.1:9001',
      authUrl: 'http://127.0.0.1:9001',
      resource: 'http://127.0.0.1:9001/mcp',
      allowedHosts: ['127.0.0.1:9001', 'localhost:9001', '[::1]:9001'],
      allowedOrigins: ['http://127.0.0.1:9001', 'http://localhost:9001', 'http://[::1]:9001'],
    });
  });

  it('is the public name, and loopback for the commands of this machine', () => {
    const urls = derive({ publicUrl: 'https://mcp.example.com/', allowedHosts: ['Internal.example:8080'] });
    expect(urls.resource).toBe('https://mcp.example.com/mcp');
    expect(urls.authUrl).toBe('https://mcp.example.com');
    expect(urls.allowedHosts).toContain('mcp.example.com');
    expect(urls.allowedHosts).toContain('internal.example:8080');
    expect(urls.allowedHosts).toContain('127.0.0.1:8080');
    expect(urls.allowedOrigins).toContain('https://mcp.example.com');
  });

  it('is every name of this machine at the port that is published, where that is another', () => {
    const urls = derive({ publicUrl: 'http://localhost:9000' });
    expect(urls.allowedHosts).toEqual(
      expect.arrayContaining(['127.0.0.1:8080', 'localhost:9000', '127.0.0.1:9000', '[::1]:9000']),
    );
    expect(urls.allowedOrigins).toContain('http://127.0.0.1:9000');
    expect(derive({ publicUrl: 'https://mcp.example.com:9000' }).allowedHosts).not.toContain('localhost:9000');
  });

  it('keeps a path, and another host for tokens', () => {
    const urls = derive({ publicUrl: 'https://example.com/sightline', authUrl: 'https://auth.example.com' });
    expect(urls).toMatchObject({ resource: 'https://example.com/sightline/mcp', authUrl: 'https://auth.example.com' });
    expect(urls.allowedHosts).toEqual(expect.arrayContaining(['example.com', 'auth.example.com']));
  });
});
