import { callFaults } from './call-faults.ts';
import { dataFaults } from './data-faults.ts';
import { faults } from './faults.ts';
import { quietSymptoms } from './quiet-symptoms.ts';
import { quiet } from './quiet.ts';
import type { Scenario } from './scenario.ts';

/** Every scenario there is; those from `quiet` on are quiet. */
export const scenarios = {
  ...faults,
  ...dataFaults,
  ...callFaults,
  ...quiet,
  ...quietSymptoms,
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof scenarios;

export function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name);
}
