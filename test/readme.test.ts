import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { access, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { telemetryHost } from '../src/gateway/wiring/telemetry-host.ts';
import { claude } from '../src/web/client-setup/commands.ts';
import { cursor, vscode } from '../src/web/client-setup/settings.ts';
import { loadConfig } from '../src/gateway/config/load.ts';
import { configSchema } from '../src/gateway/config/schema.ts';
import { noOrganizations, testHost } from './contract/host.ts';
import { loadPlugin } from '../src/gateway/process/registry.ts';
import {
  createKey,
  environmentOf,
  removeDirectory,
  root,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from './support/gateway.ts';

const run = promisify(execFile);
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...[
    'clients',
    'deploying',
    'faq',
    'governance',
    'high-availability',
    'identity-providers',
    'ingest',
    'operating',
    'provisioning',
    'proxy',
    'security',
    'sizing',
    'storage',
    'tools',
    'troubleshooting',
    'upgrading',
    'warehouses',
  ].map((name) => `docs/${name}.md`),
];

/** Commands that other tests run: an installation, a gateway in the foreground, benchmarks of minutes, a warehouse's. */
const elsewhere = /^(npm ci|npm start|npm test|npm run (check|bench|clients)|sightline telemetry)/;

/** What the variables of configurations hold; a URL where nothing else is said. */
const variables: Readonly<Record<string, string>> = {
  STORAGE_URL: 'postgres://sightline:secret@127.0.0.1:5432/sightline',
  BOUNDARY_SECRET: 'at least thirty-two characters of it',
  WAREHOUSE_URL: 'postgres://sightline:secret@127.0.0.1:5432/observability',
  WAREHOUSE_WRITER_URL: 'postgres://sightline_writer:secret@127.0.0.1:5432/observability',
};

async function read(page: string): Promise<string> {
  return readFile(join(root, page), 'utf8');
}

/** `sightline` as the README has it: its alias as a function, since a shell without a terminal need not expand aliases. */
async function asInCheckout(): Promise<string> {
  const [, command] = /^alias sightline='(.*)'/m.exec(await read('README.md')) ?? [];
  if (command === undefined) throw new Error('README.md does not say how a checkout runs sightline.');
  return `sightline() { ${command} "$@"; }`;
}

/** As `config check` does, and the warehouse's plugin is made too: what does not belong together is said there. */
async function take(file: string): Promise<void> {
  const named = [...(await readFile(file, 'utf8')).matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => name);
  const env = Object.fromEntries(named.map((name) => [name, variables[name] ?? 'https://set.example']));
  const { config } = await loadConfig({ file, cwd: root, env, overrides: {} });
  for (const kind of ['storage', 'issuer', 'agent'] as const) {
    const { plugin, ...section } = config[kind];
    await loadPlugin(kind, { plugin, ...section }, file);
  }
  const { plugin, ...section } = config.telemetry;
  const loaded = await loadPlugin('telemetry', { plugin, ...section }, file);
  await loaded.create(telemetryHost(testHost(dirname(file)), noOrganizations)).stop();
}

describe('the documents', () => {
  let gateway: RunningGateway;
  let directory = '';
  let env: NodeJS.ProcessEnv = {};

  beforeAll(async () => {
    directory = await temporaryDirectory();
    gateway = await startGateway(directory);
    const key = await createKey(directory, 'acme');
    env = {
      ...process.env,
      NODE_OPTIONS: '',
      PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`,
      ...(await environmentOf(directory)),
      CLIENT_ID: key.client_id,
      CLIENT_SECRET: key.client_secret,
    };
  });

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  it.each(pages)(
    '%s: every shell command works as written',
    async (page) => {
      const blocks = [...(await read(page)).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text);
      const commands = blocks
        .map((block) =>
          block.replaceAll(/^(?=\S)(?:.*\\\n)*.*$/gm, (command) => (elsewhere.test(command) ? '' : command)),
        )
        .join('\n')
        .replaceAll('http://127.0.0.1:8080', gateway.url)
        .replaceAll(/^alias .*$/gm, '');
      // One shell for the page, as a reader would paste it from top to bottom; it ends at the first command that fails.
      const { stdout } = await run('sh', ['-e', '-c', `${await asInCheckout()}\n${commands}\necho; echo done`], {
        cwd: root,
        env,
        maxBuffer: 10_000_000,
      });
      expect(stdout.trimEnd().split('\n').at(-1)).toBe('done');
      expect(stdout).not.toContain('"error"');
    },
    // A page has twenty commands, each of which is npm and a process of its own.
    180_000,
  );

  it.each(pages)('%s: every YAML block is a configuration that the gateway and its plugins take', async (page) => {
    const blocks = [...(await read(page)).matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
    if (/operating|storage|warehouses|sizing/.test(page)) expect(blocks.length).toBeGreaterThan(1);
    for (const [index, block] of blocks.entries()) {
      const file = join(directory, `block-${index}.yaml`);
      await writeFile(file, block);
      await expect(take(file)).resolves.toBeUndefined();
    }
  });

  it('the configuration with every default is one, and holds the defaults', async () => {
    const file = join(root, 'config/sightline.config.yaml');
    await take(file);
    const { config } = await loadConfig({ file, cwd: root, env: {}, overrides: {} });
    const { dataDirectory: _, ...defaults } = configSchema.parse({});
    expect(config).toMatchObject(defaults);
  });

  it.each(pages)('%s: every link within the repository leads somewhere', async (page) => {
    const links = [...(await read(page)).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    for (const link of links.filter((target) => !/^https?:/.test(target))) {
      await access(join(root, page, '..', link));
    }
    expect(links.every((link) => !link.startsWith('/'))).toBe(true);
  });

  it.each([claude, cursor, vscode])(
    'the README configures $title as the pages and the command line do',
    async (client) => {
      const url = 'http://127.0.0.1:8080/mcp';
      const connection = { url, tokenUrl: 'http://127.0.0.1:8080/oauth2/token' };
      const command = client.snippets(connection).find(({ text }) => text.startsWith('claude '))?.text;
      const said = command ?? `${client.file?.path}\`: \`${JSON.stringify(client.file?.document(connection))}`;
      expect(await read('README.md')).toContain(`| ${client.title} | \`${said}\` |`);
    },
  );
});
