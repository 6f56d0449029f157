import { lifecycleContract } from './lifecycle.ts';
import type { Runner } from './runner.ts';
import { cellPromises } from './telemetry/cells.ts';
import { dialectPromises } from './telemetry/dialect.ts';
import { labelPromises } from './telemetry/labels.ts';
import { limitPromises } from './telemetry/limits.ts';
import { reachPromises } from './telemetry/reaches.ts';
import { refusalPromises } from './telemetry/refusals.ts';
import { rowPromises } from './telemetry/rows.ts';
import { rulePromises } from './telemetry/rules.ts';
import { sinkPromises } from './telemetry/sink.ts';
import { sharedStage, type TelemetryUnderTest } from './telemetry/stage.ts';
import { windowPromises } from './telemetry/window.ts';

export type { TelemetryUnderTest } from './telemetry/stage.ts';

/** The promises of every telemetry plugin: the pipeline's four steps, isolation, rules, limits, and the sink if there is one. */
export function telemetryContract(runner: Runner, make: () => Promise<TelemetryUnderTest>): void {
  lifecycleContract(runner, make);

  runner.describe('telemetry', () => {
    const stage = sharedStage(runner, make);
    windowPromises(runner, stage);
    rowPromises(runner, stage);
    cellPromises(runner, stage);
    reachPromises(runner, stage);
    rulePromises(runner, stage);
    labelPromises(runner, stage);
    limitPromises(runner, stage);
    refusalPromises(runner, stage);
    dialectPromises(runner, stage);
    sinkPromises(runner, stage);
  });
}
