import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { callTool, countRows } from './support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightline,
  startGateway,
  temporaryDirectory,
} from './support/gateway.ts';

const config = join(root, 'examples', 'custom-agent', 'sightline.config.yaml');

let directory = '';
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => removeDirectory(directory));

describe('a plugin named by its path', () => {
  it('serves in the place of the shipped one', async () => {
    const gateway = await startGateway(directory, { args: ['--no-demo', '--config', config] });
    try {
      const token = await exchange(gateway.url, await createKey(directory, 'acme'));
      expect((await sightline(directory, ['demo', '--minutes', '10', '--org', 'acme'])).code).toBe(0);
      await countRows(gateway.url, token, 'otel.spans', 1);
      const started = await callTool(gateway.url, token, 'start_chat', { message: 'What is slow?' });
      const { chat_id } = z.object({ chat_id: z.string() }).parse(started.structured);
      let answer = '';
      for (let attempt = 0; attempt < 50 && answer === ''; attempt += 1) {
        const { structured } = await callTool(gateway.url, token, 'read_chat', { chat_id, wait_seconds: 5 });
        const { messages } = z
          .object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) })
          .parse(structured);
        answer = messages.find(({ role }) => role === 'agent')?.content ?? '';
        await delay(50);
      }
      expect(answer).toContain('The slowest operations [E1]');
    } finally {
      await gateway.stop();
    }
  }, 180_000);

  it.each([
    [
      'absent',
      './absent.ts',
      /agent plugin "\.\/absent\.ts" \(config key agent\.plugin\) cannot be used: Cannot find module/,
    ],
    ['of another kind', join(root, 'plugins/storage-knex/index.ts'), /it is a storage plugin/],
    ['not shipped', 'playbok', /there is no such plugin; shipped are: llm, playbook/],
    ['no plugin at all', join(root, 'src/gateway/process/logger.ts'), /its default export is not a plugin definition/],
  ])('stops the boot with one sentence when it is %s', async (_name, plugin, sentence) => {
    const file = join(directory, 'sightline.config.json');
    await writeFile(file, JSON.stringify({ agent: { plugin } }));
    const { code, stderr } = await sightline(directory, ['serve', '--port', '0', '--config', file]);
    expect(code).toBe(3);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain('    at ');
  });

  it('has its config checked by its own schema, with the path of the wrong key', async () => {
    const file = join(directory, 'sightline.config.json');
    await writeFile(
      file,
      JSON.stringify({ agent: { plugin: join(root, 'examples/custom-agent/slowest-operations.ts'), hour: 3 } }),
    );
    const { code, stderr } = await sightline(directory, ['config', 'check', '--config', file]);
    expect(code).toBe(3);
    expect(stderr).toContain('agent.hour: there is no such key. Did you mean hours?');
  });
});
