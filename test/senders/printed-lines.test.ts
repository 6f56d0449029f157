import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultLoaders } from 'cosmiconfig';
import { sightline } from '../support/gateway.ts';
import { openReceiving, type Receiving } from '../support/senders.ts';

/*
 * What `ingest show` prints, pasted into a shell verbatim; then the program of each language as it is printed to be started.
 * A sender whose registry is out of reach is named in one line.
 */

const run = promisify(execFile);
/** Outside of any package, so that what the printed lines install is all that there is. */
const tools = await mkdtemp(join(tmpdir(), 'sl-senders-'));
const installs = (command: string, args: readonly string[]): Promise<boolean> =>
  run(command, [...args], { cwd: tools, timeout: 240_000 }).then(
    () => true,
    () => false,
  );
const hasDeno = await installs('npm', ['install', '--prefix', tools, '--no-audit', '--no-fund', 'deno']);
const packages = ['opentelemetry-sdk', 'opentelemetry-exporter-otlp-proto-http'];
const quickly = ['-q', '--retries', '1', '--target', join(tools, 'py')];
const hasPython = await installs('python3', ['-m', 'pip', 'install', ...quickly, ...packages]);
if (!hasPython) process.stderr.write('not run: a span of the Python SDK, which cannot be installed here\n');

let receiving: Receiving;
beforeAll(async () => {
  receiving = await openReceiving();
});
afterAll(async () => {
  await receiving.close();
  await rm(tools, { recursive: true, force: true });
});

const printed = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await sightline(receiving.directory, ['ingest', 'show', '--org', 'Acme', ...args]);
  return stdout;
};

/** In a shell that was given the printed lines, and the name of the service in place of the example's. */
async function shell(service: string, script: string): Promise<void> {
  const exports = (await printed()).replace('my-service', service);
  const path = `${join(tools, 'node_modules/.bin')}:${process.env['PATH']}`;
  const env = { PATH: path, HOME: process.env['HOME'], PYTHONPATH: join(tools, 'py') };
  await run('bash', ['-euc', `${exports}\n${script}`], { cwd: receiving.directory, env, timeout: 240_000 });
}

const spansOf = (service: string): Promise<unknown[][]> =>
  receiving.rows(`SELECT DISTINCT name FROM otel.spans WHERE service_name = '${service}' AND name LIKE 'work%'`);

const program = `
  const { trace } = API;
  trace.getTracer('app').startSpan('work').end();
  setTimeout(() => process.kill(process.pid, 'SIGTERM'), 2000);
`;

describe('the printed lines', () => {
  it('are the same for a person, a program and a model', async () => {
    const { env, collector_yaml, setups } = JSON.parse(await printed('--json'));
    const lines = Object.entries(env).map(([name, value]) => `export ${name}=${String(value)}`);
    expect((await printed()).split('\n').slice(0, lines.length)).toEqual(lines);
    expect(env).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiving.gateway.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${receiving.token}`,
    });
    const { node, browser } = setups;
    for (const [sender, text] of Object.entries({ node, collector: collector_yaml, browser })) {
      expect(await printed('--for', sender)).toBe(`${String(text)}\n`);
    }
    const unknown = await sightline(receiving.directory, ['ingest', 'show', '--org', 'Acme', '--for', 'cobol']);
    expect([unknown.code, unknown.stderr]).toEqual([expect.any(Number), expect.stringContaining('kubernetes')]);
  });

  it('are YAML where they are said to be, with the token where it belongs', async () => {
    const read = async (sender: string): Promise<unknown> =>
      defaultLoaders['.yaml']('printed', await printed('--for', sender));
    const headers = { 'x-api-key': receiving.token };
    const pipeline = { receivers: ['otlp'], processors: ['batch'], exporters: ['otlp_http/sightline'] };
    expect(await read('collector')).toMatchObject({
      receivers: { otlp: { protocols: { http: { endpoint: '0.0.0.0:4318' } } } },
      exporters: { 'otlp_http/sightline': { endpoint: receiving.gateway.url, headers } },
      service: { pipelines: { traces: pipeline, metrics: pipeline, logs: pipeline } },
    });
    expect(await read('kubernetes')).toMatchObject({ kind: 'Instrumentation', spec: { env: expect.any(Array) } });
    const { host, hostname, port } = new URL(receiving.gateway.url);
    expect(await read('prometheus')).toMatchObject({ tracing: { endpoint: host, insecure: true, headers } });
    const output = { host: hostname, port: Number(port), header: `x-api-key ${receiving.token}` };
    expect(await read('fluent_bit')).toMatchObject({ pipeline: { outputs: [output] } });
  });

  it('make a span of Node, as CommonJS and as ES modules', async () => {
    const lines = (await printed('--for', 'node')).split('\n');
    await writeFile(join(receiving.directory, 'package.json'), '{"private":true}');
    const api = `require('@opentelemetry/api')`;
    await writeFile(join(receiving.directory, 'app.cjs'), program.replace('API', api));
    await writeFile(join(receiving.directory, 'app.mjs'), `import API from '@opentelemetry/api';${program}`);
    const [install = '', commonJs = '', , modules = ''] = lines;
    await run('bash', ['-euc', `${install} --no-audit --no-fund`], { cwd: receiving.directory, timeout: 240_000 });
    await Promise.all([shell('node-cjs', `${commonJs} || true`), shell('node-esm', `${modules} || true`)]);
    expect(await spansOf('node-cjs')).toEqual([['work']]);
    expect(await spansOf('node-esm')).toEqual([['work']]);
  });

  (hasDeno ? it : it.skip)('make a span and a log of Deno', async () => {
    const app = `
      const server = Deno.serve({ port: 0, onListen() {} }, () => new Response('hello'));
      await (await fetch('http://127.0.0.1:' + server.addr.port)).text();
      console.log('from Deno');
      await server.shutdown();`;
    await writeFile(join(receiving.directory, 'app.ts'), app);
    await shell('deno', await printed('--for', 'deno'));
    const spans = `SELECT kind FROM otel.spans WHERE service_name = 'deno' AND kind = 'SERVER'`;
    expect(await receiving.rows(spans)).toEqual([['SERVER']]);
    const logs = `SELECT body FROM otel.logs WHERE service_name = 'deno' AND body LIKE 'from Deno%'`;
    expect(await receiving.rows(logs)).toEqual([['from Deno\n']]);
  });

  // The distribution that the lines install is not to be had everywhere; the SDK that it configures reads the same variables.
  const withPython: typeof it | undefined = hasPython ? it : undefined;
  withPython?.('make a span of the Python SDK', async () => {
    const app = [
      'from opentelemetry.sdk.trace import TracerProvider',
      'from opentelemetry.sdk.trace.export import BatchSpanProcessor',
      'from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter',
      'provider = TracerProvider()',
      'provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))',
      'provider.get_tracer("app").start_span("work").end()',
      'provider.shutdown()',
    ];
    await writeFile(join(receiving.directory, 'app.py'), app.join('\n'));
    await shell('python', 'python3 app.py');
    expect(await spansOf('python')).toEqual([['work']]);
  });
});
