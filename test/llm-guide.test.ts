import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import llm from '../plugins/agent-llm/index.ts';
import playbook from '../plugins/agent-playbook/index.ts';
import { dialect } from '../plugins/telemetry-duckdb/dialect.ts';
import { parseConfig } from './support/agent-config.ts';
import { testHost } from './contract/host.ts';
import { newId } from '../src/contract/core/index.ts';
import { removeDirectory, root, temporaryDirectory } from './support/gateway.ts';
import { run } from './support/llm-laboratory.ts';
import { startModelApi, type ModelApi } from './support/model-api.ts';

/* The example files and the guide: each is taken as it is written, and only the place of its API is another. */

const folder = join(root, 'config', 'agents');
const page = await readFile(join(root, 'docs', 'investigation.md'), 'utf8');
const files = await readdir(folder);
const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = '']) => block);
const examples = [
  ...files.map((name, index) => [name, texts[index] ?? '']),
  ...blocks.map((block, index) => [`block ${index + 1} of the guide`, block]),
];

let api: ModelApi;
let directory = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
  const conclusion = { root_cause: 'Load.', category: 'resource', service: '', confidence: 'low', claims: [] };
  api = await startModelApi(() => ({ calls: [{ name: 'submit_conclusion', input: conclusion }] }));
});
afterAll(async () => {
  await api.stop();
  await removeDirectory(directory);
});
afterEach(() => expect(api.problems).toEqual([]));

it('the guide has two examples and names every file', () => {
  expect(blocks).toHaveLength(2);
  for (const name of files) expect(page).toContain(`(../config/agents/${name})`);
});

describe('an example', () => {
  it.each(examples)('%s asks its model', async (_name, text) => {
    const section = await parseConfig(directory, text);
    const { provider, baseUrl = '' } = llm.configSchema.parse(section);
    const path = provider === 'anthropic' ? '' : new URL(baseUrl || 'https://api.openai.com/v1').pathname;
    const config = llm.configSchema.parse({ ...section, baseUrl: api.url + path });
    const query = async () => ({ columns: [], rows: [], truncated: false, elapsedMs: 1 });
    const host = { ...testHost(directory), dialect, query };
    const { end } = await run(llm.create(config, { ...host, baseline: playbook.create({}, host) }), {
      organizationId: newId('org'),
    });
    expect(end?.answer).toContain('Load.');
    const { path: asked, body = '' } = api.asked.at(-1) ?? {};
    const { model, max_tokens: limit } = z.looseObject({ model: z.string() }).parse(JSON.parse(body));
    expect(model).toBe(config.model);
    if (provider === 'openai') {
      expect(asked?.includes('/responses')).toBe(config.api === 'responses');
      expect(limit !== undefined).toBe(config.outputTokensField === 'max_tokens');
    }
  });
});
