/**
 * Mixed load at seven tenths of what one gateway can answer: tools, tokens, telemetry, chats and pages, of 500 organizations with
 * 10,000 tokens on at most 16 engines. Ends with 1 when a request failed, or when memory, handles or engines grew.
 *
 *     npm run soak -- [--seconds 3600] [--json]
 */
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Gauges } from './soak/gauges.ts';
import { capacityOf, Mix, pace, type Sent } from './soak/load.ts';
import { setStage } from './soak/stage.ts';

const organizations = 500;
const tokens = 10_000;
const share = 0.7;
const clients = 8;
const engines = 16;
/** Of memory. A shorter run than this is all warm-up and does not judge it. */
const growth = 0.05;
const judgedFromSeconds = 600;
/** Handles and connections to engines come and go with them. */
const spare = 32;

const { values } = parseArgs({ options: { seconds: { type: 'string' }, json: { type: 'boolean', default: false } } });
const seconds = z.coerce
  .number()
  .int()
  .min(10)
  .max(86_400)
  .parse(values.seconds ?? 3_600);

const stage = await setStage(organizations, tokens);
let kept = false;
try {
  const counts: Record<string, number> = {};
  const failures: Sent[] = [];
  const note = (sent: Sent): void => {
    counts[sent.kind] = (counts[sent.kind] ?? 0) + 1;
    if (sent.failure !== undefined) failures.push(sent);
  };
  const mix = new Mix(stage);
  // The first asks start engines; what they take says nothing of later.
  await capacityOf(mix, clients, Math.min(10, seconds / 4), note);
  const capacity = await capacityOf(mix, clients, Math.min(20, seconds / 4), note);
  const gauges = new Gauges(stage);
  await pace(mix, capacity * share, seconds, note);
  await gauges.stop();
  const [memory, handles, connections, running] = [
    gauges.course('memoryMb'),
    gauges.course('handles'),
    gauges.course('connections'),
    gauges.course('engines'),
  ];
  const broken = [
    ...(failures.length > 0 ? [`${failures.length} requests failed`] : []),
    ...(seconds >= judgedFromSeconds && memory.end > memory.begin * (1 + growth)
      ? [`memory grew from ${memory.begin} to ${memory.end} MB`]
      : []),
    ...(handles.end > handles.begin + spare ? [`handles grew from ${handles.begin} to ${handles.end}`] : []),
    ...(connections.end > connections.begin + spare
      ? [`connections grew from ${connections.begin} to ${connections.end}`]
      : []),
    ...(running.highest > engines ? [`${running.highest} engines ran at once`] : []),
  ];
  const distinct = new Set(stage.tenants.flatMap((tenant) => tenant.tokens)).size;
  const report = {
    seconds,
    organizations: stage.tenants.length,
    tokens: distinct,
    perSecond: { capacity: Math.round(capacity), offered: Math.round(capacity * share) },
    counts,
    memoryMb: { ...memory, tenths: gauges.tenths('memoryMb') },
    handles,
    connections,
    engines: running,
    failures: failures.slice(0, 10),
    broken,
  };
  console.log(values.json ? JSON.stringify(report) : JSON.stringify(report, undefined, 2));
  kept = broken.length === 0;
} finally {
  await stage.close();
}
process.exitCode = kept ? 0 : 1;
