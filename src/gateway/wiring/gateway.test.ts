import { expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../contract/core/index.ts';
import { createGateway } from './index.ts';

it('runs in a program, with its config as an object and the logger of the program', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sl-'));
  const lines: string[] = [];
  const write = (_fields: object, message: string): void => void lines.push(message);
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  try {
    const config = { dataDirectory, listen: { port: 0 }, ingest: { enabled: false } };
    const gateway = await createGateway({ config, logger });
    try {
      await gateway.start();
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
      expect([gateway.configFile, gateway.receives]).toEqual([undefined, false]);
      expect(lines).toContain('serving');
    } finally {
      await gateway.stop();
    }
    await expect(createGateway({ config: { dataDirectory, listen: { port: 70_000 } }, logger })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('listen.port'),
    });
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
});
