import type { RequestHandler } from 'express';
import { within, type Health, type Logger } from '../../contract/core/index.ts';
import { sendJson } from './json.ts';

export interface HealthReport {
  readonly ok: boolean;
  readonly components: Readonly<Record<string, Health>>;
}

/** The process runs and its event loop turns. It asks no component: a restart would not mend a database. */
export const livez: RequestHandler = (_request, response) => sendJson(response, 200, { status: 'ok' });

const reuseMs = 1_000;
const deadlineMs = 5_000;

/**
 * 200 once requests are served and every component is well or degraded, 503 otherwise. Anybody may ask, so an answer says which
 * component is unwell and not why; the why goes to the log, once for each change. Probes share one check a second.
 */
export function readyz(ready: () => boolean, health: () => Promise<HealthReport>, logger: Logger): RequestHandler {
  let last: { readonly at: number; readonly report: Promise<HealthReport> } | undefined;
  let known = '';

  const check = (): Promise<HealthReport> => {
    const at = performance.now();
    if (!last || at - last.at > reuseMs) last = { at, report: within(deadlineMs, health()) };
    return last.report;
  };

  return async (_request, response) => {
    if (!ready()) return sendJson(response, 503, { status: 'not serving' });
    let report: HealthReport;
    try {
      report = await check();
    } catch (error) {
      report = { ok: false, components: {} };
      logger.warn({ error }, 'The health of the components could not be asked.');
    }
    const entries = Object.entries(report.components);
    const summary = JSON.stringify(entries);
    if (summary !== known) {
      known = summary;
      const unwell = entries.filter(([, health]) => stateOf(health) !== 'ok');
      if (unwell.length > 0) logger.warn({ unwell: Object.fromEntries(unwell) }, 'Components are unwell.');
    }
    sendJson(response, report.ok ? 200 : 503, {
      status: report.ok ? 'ok' : 'unwell',
      components: Object.fromEntries(entries.map(([name, health]) => [name, stateOf(health)])),
    });
  };
}

function stateOf({ ok, degraded = false }: Health): 'ok' | 'degraded' | 'unwell' {
  if (!ok) return 'unwell';
  return degraded ? 'degraded' : 'ok';
}
