import { setTimeout as delay } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { within, type Health, type Logger } from '../../contract/core/index.ts';
import { sendJson } from './json.ts';

export interface HealthReport {
  /** Whether this process can serve, as far as it lies with it. */
  readonly ok: boolean;
  readonly components: Readonly<Record<string, Health>>;
}

/** The process runs and its event loop turns. It asks no component: a restart would not mend a database. */
export const livez: RequestHandler = (_request, response) => sendJson(response, 200, { status: 'ok' });

const reuseMs = 1_000;
const deadlineMs = 5_000;
/** A server that is slow or silent must not make the probe itself time out: then the last answer counts. */
const patienceMs = 300;

/**
 * 200 while this process can serve, 503 otherwise. A server that all gateways share does not count: taken out of the balancer
 * together, they could not even say with a 503 of their own what is wrong. Anybody may ask, so an answer says which component is
 * unwell and not why; the why goes to the log, once for each change. Probes share one check a second.
 */
export function readyz(ready: () => boolean, health: () => Promise<HealthReport>, logger: Logger): RequestHandler {
  let latest: HealthReport | undefined;
  let at = -Infinity;
  let running: Promise<void> | undefined;
  let known = '';

  async function check(): Promise<void> {
    try {
      latest = await within(deadlineMs, health());
    } catch (error) {
      latest = { ok: false, components: {} };
      logger.warn({ error }, 'The health of the components could not be asked.');
    }
    at = performance.now();
    running = undefined;
    const entries = Object.entries(latest.components);
    const summary = JSON.stringify(entries);
    if (summary === known) return;
    known = summary;
    const unwell = entries.filter(([, each]) => stateOf(each) !== 'ok');
    if (unwell.length > 0) logger.warn({ unwell: Object.fromEntries(unwell) }, 'Components are unwell.');
  }

  return async (_request, response) => {
    if (!ready()) return sendJson(response, 503, { status: 'not serving' });
    if (performance.now() - at > reuseMs) {
      running ??= check();
      await (latest === undefined ? running : Promise.race([running, delay(patienceMs)]));
    }
    const { ok = false, components = {} } = latest ?? {};
    const states = Object.entries(components).map(([name, each]) => [name, stateOf(each)] as const);
    const well = states.every(([, state]) => state !== 'unwell');
    sendJson(response, ok ? 200 : 503, {
      status: ok && well ? 'ok' : 'unwell',
      components: Object.fromEntries(states),
    });
  };
}

function stateOf({ ok, degraded = false }: Health): 'ok' | 'degraded' | 'unwell' {
  if (!ok) return 'unwell';
  return degraded ? 'degraded' : 'ok';
}
