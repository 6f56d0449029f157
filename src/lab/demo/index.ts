import type { NewIncident } from '../../contract/storage/index.ts';
import { type DemoFigures, type DemoOptions, type Figures, planTimeline } from './timeline.ts';
import type { FaultCategory } from './scenario.ts';
import type { ServiceName } from './shop.ts';

export { generate } from './generate.ts';
export type { OtlpRequest, OtlpSignal } from './generate.ts';
export { isScenario, scenarios } from './quiet.ts';
export type { ScenarioName } from './quiet.ts';
export type { FaultCategory, Scenario } from './scenario.ts';
export { sendDemo, sendOtlp } from './send.ts';
export type { SendOptions, Sent } from './send.ts';
export type { DemoFigures, Figures } from './timeline.ts';
export type { DemoOptions } from './timeline.ts';

export interface GroundTruth {
  /** Where the cause is; undefined when nothing is wrong. */
  readonly service?: ServiceName;
  readonly category: FaultCategory;
  readonly description: string;
  /** Minutes from the onset to `end`. */
  readonly onsetMinutes: number;
  readonly onset: Date;
}

/** What an investigation should find. */
export function groundTruth(options: DemoOptions): GroundTruth {
  const { scenario, onset, end } = planTimeline(options);
  const { service, category, description } = scenario;
  return {
    ...(service !== undefined && { service }),
    category,
    description,
    onsetMinutes: (end - onset) / 60_000,
    onset: new Date(onset),
  };
}

/** What a person would ask the agent about it. */
export function demoQuestion(options: DemoOptions): string {
  return planTimeline(options).scenario.alert.question;
}

/** As a person leaves it who looked at the alert and does not know the cause: it gives the cause away nowhere. */
export function demoIncident(options: DemoOptions, figures: DemoFigures): NewIncident {
  const { scenario, onset, end, start } = planTimeline(options);
  const { alert } = scenario;
  const detected = Math.min(onset + 3 * 60_000, end);
  const [startedAt, detectedAt] = [new Date(onset), new Date(detected)];
  const fingerprint = `demo:${options.scenario}:${options.seed}:${end}`;
  const labels = { alertname: alert.title, service: alert.service, environment: 'production' };
  return {
    title: alert.title,
    summary: alert.summary,
    status: 'investigating',
    severity: alert.severity,
    waitingOn: { party: 'human', reason: 'Somebody has to decide whether to start an investigation.' },
    services: [alert.service],
    environment: 'production',
    source: 'demo',
    fingerprint,
    labels: { demo: 'true' },
    alerts: [
      { fingerprint, title: alert.title, status: 'firing', severity: alert.severity, startsAt: detectedAt, labels },
    ],
    startedAt,
    detectedAt,
    document: `## Summary

${alert.summary}

## Impact

| ${alert.operation === undefined ? alert.service : `${alert.service}, \`${alert.operation}\``} | requests | errors | p95 |
|---|---|---|---|
| ${time(start)} to ${time(onset)} | ${row(figures.before)} |
| since ${time(onset)} | ${row(figures.after)} |

## Timeline

- ${time(detected)}: the alert “${alert.title}” fired.
`,
  };
}

function row({ requests, errors, p95 }: Figures): string {
  const share = requests === 0 ? 0 : (errors / requests) * 100;
  return `${requests} | ${errors} (${share.toFixed(1)} %) | ${p95.toFixed(0)} ms`;
}

function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
