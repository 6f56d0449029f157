import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Request } from './lines.ts';

const run = promisify(execFile);

export interface Load {
  readonly answers: number;
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
}

export interface Generator {
  readonly name: string;
  /**
   * Keeps `connections` busy. Rejects when anything but 2xx is answered.
   * @param tokens that the requests bear one after another, in place of the one that the request has.
   */
  load(url: string, request: Request, connections: number, seconds: number, tokens?: readonly string[]): Promise<Load>;
}

/** wrk where it is installed, since it leaves the processors to the servers; else autocannon. The same for all servers. */
export async function findGenerator(directory: string): Promise<Generator> {
  // wrk ends with 1 where it says its version.
  const { stdout } = await run('wrk', ['-v']).catch((error: unknown) => z.object({ stdout: z.string() }).parse(error));
  const version = /wrk \S+/.exec(stdout)?.[0];
  return version === undefined ? autocannon() : wrk(version, `${directory}/wrk.lua`);
}

const told = z.object({
  requests: z.number(),
  microseconds: z.number(),
  bytes: z.number(),
  failed: z.number(),
  p50: z.number(),
  p99: z.number(),
});

function wrk(name: string, script: string): Generator {
  return {
    name,
    async load(url, { headers, body }, connections, seconds, tokens = []) {
      const set = Object.entries(headers).map(([key, value]) => `wrk.headers[${quoted(key)}] = ${quoted(value)}`);
      const lua = [
        'wrk.method = "POST"',
        `wrk.body = ${quoted(body)}`,
        ...set,
        ...(tokens.length > 0 ? inTurn(tokens) : []),
        'function done(summary, latency)',
        '  local e = summary.errors',
        `  print(string.format('\\n{"requests":%d,"microseconds":%d,"bytes":%d,"failed":%d,"p50":%d,"p99":%d}', summary.requests, summary.duration, summary.bytes, e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99)))`,
        'end',
      ];
      await writeFile(script, lua.join('\n'));
      const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '20s', '-s', script, url];
      const { stdout } = await run('wrk', args);
      const { requests, microseconds, bytes, failed, p50, p99 } = told.parse(
        JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''),
      );
      if (failed > 0 || requests === 0) throw new Error(`${failed} of ${requests} requests failed`);
      const rate = requests / (microseconds / 1e6);
      return { answers: requests, rate, p50: p50 / 1_000, p99: p99 / 1_000, bytes: bytes / requests };
    },
  };
}

/** Requests that bear one token after another, made before the load begins. */
function inTurn(tokens: readonly string[]): readonly string[] {
  return [
    `local tokens = {${tokens.map(quoted).join(',')}}`,
    'local requests, last = {}, 0',
    'function init()',
    '  for index, token in ipairs(tokens) do',
    "    wrk.headers['authorization'] = 'Bearer ' .. token",
    '    requests[index] = wrk.format()',
    '  end',
    'end',
    'function request()',
    '  last = last % #requests + 1',
    '  return requests[last]',
    'end',
  ];
}

/** A Lua string that no character of the text ends. */
function quoted(text: string): string {
  return `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
}

const report = z.object({
  '2xx': z.number(),
  non2xx: z.number(),
  errors: z.number(),
  requests: z.object({ average: z.number() }),
  latency: z.object({ p50: z.number(), p99: z.number() }),
  throughput: z.object({ total: z.number() }),
});

function autocannon(): Generator {
  const program = createRequire(import.meta.url).resolve('autocannon');
  return {
    name: 'autocannon',
    async load(url, { headers, body }, connections, seconds, tokens) {
      if (tokens !== undefined) throw new Error('requests with several tokens are sent by wrk alone; install it');
      const sent = Object.entries(headers).flatMap(([key, value]) => ['-H', `${key}=${value}`]);
      const options = ['-j', '-n', '-c', String(connections), '-d', String(seconds), '-m', 'POST', '-b', body];
      const { stdout } = await run(process.execPath, [program, ...options, ...sent, url], { maxBuffer: 1 << 24 });
      const { non2xx, errors, requests, latency, throughput, ...rest } = report.parse(JSON.parse(stdout));
      const answers = rest['2xx'];
      if (non2xx + errors > 0 || answers === 0) throw new Error(`${non2xx} refused, ${errors} failed`);
      return { answers, rate: requests.average, ...latency, bytes: throughput.total / answers };
    },
  };
}
