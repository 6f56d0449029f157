import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { spansPerBody, traceBody } from './otlp-body.ts';

/*
 * Sends prepared bodies over a few connections for a while, then reports to its parent. Arguments: URL of /v1/traces, ingest
 * token, seconds, spans a second (0: as many as are answered), connections.
 */

const [url = '', token = '', seconds = '60', rate = '0', connections = '8'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const bodies = Array.from({ length: 256 }, (_, seed) => traceBody(seed, Date.now()));
const latencies: number[] = [];
const statuses: Record<string, number> = {};
let spans = 0;
let next = 0;

function send(body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-protobuf',
          'content-encoding': 'gzip',
          'content-length': body.length,
        },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const begin = performance.now();
const end = begin + Number(seconds) * 1000;
const everyMs = Number(rate) === 0 ? 0 : (1000 * spansPerBody) / Number(rate);

async function connection(): Promise<void> {
  for (;;) {
    const turn = next++;
    // Sent when it is due and not when the one before is answered, so that a slow answer is seen for what it is.
    const due = Math.max(begin + turn * everyMs, everyMs === 0 ? performance.now() : 0);
    if (due >= end) return;
    if (due > performance.now()) await sleep(due - performance.now());
    const body = bodies[turn % bodies.length];
    if (body === undefined) return;
    const status = await send(body);
    latencies.push(performance.now() - due);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 200) spans += spansPerBody;
    else await sleep(200);
  }
}

await Promise.all(Array.from({ length: Number(connections) }, connection));
const { user, system } = process.cpuUsage();
process.send?.({ spans, seconds: (performance.now() - begin) / 1000, latencies, statuses, cpu: (user + system) / 1e6 });
agent.destroy();
