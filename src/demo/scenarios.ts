import { cacheFailure, cpuSaturation, featureFlag, kafkaLag, memoryLeak, paymentErrors, slowQuery } from './faults.ts';
import { harmlessDeploy, quiet, trafficPeak } from './quiet.ts';
import type { Scenario } from './scenario.ts';
import { badHost, gatewayOutage, networkDelay } from './surroundings.ts';

/** Every scenario there is; the last three are quiet. */
export const scenarios = {
  'payment-errors': paymentErrors,
  'slow-query': slowQuery,
  'cache-failure': cacheFailure,
  'kafka-lag': kafkaLag,
  'memory-leak': memoryLeak,
  'bad-host': badHost,
  'feature-flag': featureFlag,
  'network-delay': networkDelay,
  'gateway-outage': gatewayOutage,
  'cpu-saturation': cpuSaturation,
  quiet,
  'traffic-peak': trafficPeak,
  'harmless-deploy': harmlessDeploy,
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof scenarios;

export function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name);
}
