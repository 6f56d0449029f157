import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { selfSigned } from '../../../test/support/certificate.ts';
import { trustAuthorities } from './settings.ts';

describe('authorities of the configuration', () => {
  const own = selfSigned('localhost');
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sightline-ca-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('are trusted by fetch, with those from before, from a path relative to the config file', async () => {
    const server = createServer(own, (_request, response) => response.end('here'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `https://localhost:${typeof address === 'object' ? address?.port : 0}/`;
    try {
      await expect(fetch(url)).rejects.toThrow();
      await writeFile(join(directory, 'ca.pem'), `# ours\n${own.cert}`);
      trustAuthorities(['ca.pem'], join(directory, 'config.yaml'));
      trustAuthorities(['ca.pem'], join(directory, 'config.yaml'));
      expect(await (await fetch(url)).text()).toBe('here');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('are refused by name where a file is none', async () => {
    const wrong = join(directory, 'wrong.pem');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    for (const content of ['', own.key, broken]) {
      await writeFile(wrong, content);
      expect(() => trustAuthorities([wrong], undefined)).toThrow(
        expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(`network.ca: ${wrong}`) }),
      );
    }
    expect(() => trustAuthorities([join(directory, 'nowhere.pem')], undefined)).toThrow('network.ca');
  });
});
