import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { removeDirectory, root, temporaryDirectory } from './support/gateway.ts';

interface Proxy {
  readonly name: string;
  /** The language of its block in docs/proxy.md. */
  readonly block: string;
  readonly program: string;
  /** A whole configuration around the block. */
  readonly around: (block: string, directory: string) => string;
  readonly args: (file: string, directory: string) => readonly string[];
}

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    block: 'nginx',
    program: 'nginx',
    around: (block, directory) =>
      `daemon off; pid ${directory}/nginx.pid; error_log stderr; events {} http { access_log off; ` +
      ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((of) => `${of}_temp_path ${directory}/${of};`)
        .join(' ') +
      ` ${block} }`,
    args: (file) => ['-c', file],
  },
  {
    name: 'HAProxy',
    block: 'haproxy',
    program: 'haproxy',
    around: (block) => block,
    args: (file) => ['-db', '-f', file],
  },
  {
    name: 'Caddy',
    block: 'caddy',
    program: 'caddy',
    around: (block) => `{\n  admin off\n}\n${block}`,
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    name: 'Apache',
    block: 'apache',
    program: 'apache2',
    around: (block, directory) => {
      const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'headers'];
      const loads = modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
      return [
        `ServerRoot ${directory}`,
        `PidFile ${directory}/pid`,
        `ErrorLog ${directory}/apache.log`,
        'ServerName proxy',
        ...loads,
        block,
      ].join('\n');
    },
    args: (file) => ['-D', 'FOREGROUND', '-f', file],
  },
];

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `PATH="$PATH:/usr/sbin" command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('the proxies of docs/proxy.md', () => {
  let guide = '';
  let directory = '';
  let behind: Server;
  let behindPort = 0;
  let connections = 0;
  let running: ChildProcess | undefined;

  beforeAll(async () => {
    guide = await readFile(join(root, 'docs', 'proxy.md'), 'utf8');
    directory = await temporaryDirectory();
    behind = createServer((request, response) => {
      const { host, 'x-forwarded-for': forwarded } = request.headers;
      response.setHeader('x-seen', [host, forwarded, request.url].join(' '));
      request.pipe(response);
    });
    behind.on('connection', () => (connections += 1));
    behind.listen(0, '127.0.0.1');
    await once(behind, 'listening');
    const address = behind.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    behindPort = address.port;
  });
  afterEach(async () => {
    if (running?.exitCode === null) {
      running.kill('SIGTERM');
      await once(running, 'exit');
    }
    running = undefined;
  });
  afterAll(async () => {
    behind.closeAllConnections();
    behind.close();
    await removeDirectory(directory);
  });

  const here = proxies.filter(({ program }) => isInstalled(program));
  const absent = proxies.filter((proxy) => !here.includes(proxy)).map(({ name }) => name);
  if (absent.length > 0) process.stdout.write(`proxies: not installed, not tried: ${absent.join(', ')}\n`);

  it('has a block for each', () => {
    for (const { block } of proxies) expect(guide).toContain(`\`\`\`${block}\n`);
  });

  it.each(here)('$name keeps its connections to the gateway, and hands on host and address', async (proxy) => {
    const [, block = ''] = guide.split(`\`\`\`${proxy.block}\n`);
    const port = await freePort();
    const text = proxy.around(
      (block.split('```')[0] ?? '').replaceAll('8443', String(port)).replaceAll('8080', String(behindPort)),
      directory,
    );
    const file = join(directory, `${proxy.block}.conf`);
    await writeFile(file, text);
    let output = '';
    running = spawn(proxy.program, [...proxy.args(file, directory)], {
      env: {
        ...process.env,
        PATH: `${process.env['PATH']}:/usr/sbin`,
        HOME: directory,
        XDG_DATA_HOME: directory,
        XDG_CONFIG_HOME: directory,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.stdout?.on('data', (chunk) => (output += String(chunk)));
    running.stderr?.on('data', (chunk) => (output += String(chunk)));

    const ask = (): Promise<Response> => fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', body: '{"id":1}' });
    let first = await ask().catch(() => undefined);
    for (let turn = 0; turn < 200 && first === undefined; turn += 1) {
      if (running.exitCode !== null) throw new Error(`${proxy.name} did not start:\n${output}`);
      await delay(50);
      first = await ask().catch(() => undefined);
    }
    expect(await first?.text()).toBe('{"id":1}');
    expect(first?.headers.get('x-seen')).toBe(`127.0.0.1:${port} 127.0.0.1 /mcp`);

    const before = connections;
    for (let request = 0; request < 40; request += 1) expect(await (await ask()).text()).toBe('{"id":1}');
    expect(connections - before).toBeLessThanOrEqual(4);
  });
});
