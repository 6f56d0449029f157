import { certificateExpiry, dnsFailure, retryStorm, thirdPartySlow, badPod, regionOnly } from './call-faults.ts';
import { cacheStampede, diskFull, lockContention, poolExhaustion } from './data-faults.ts';
import { cacheFailure, cpuSaturation, featureFlag, kafkaLag, memoryLeak, paymentErrors, slowQuery } from './faults.ts';
import * as symptoms from './quiet-symptoms.ts';
import * as quiet from './quiet.ts';
import type { Scenario } from './scenario.ts';
import { badHost, gatewayOutage, networkDelay } from './surroundings.ts';

/** Every scenario there is; those from `quiet` on are quiet. */
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
  'lock-contention': lockContention,
  'pool-exhaustion': poolExhaustion,
  'cache-stampede': cacheStampede,
  'disk-full': diskFull,
  'retry-storm': retryStorm,
  'dns-failure': dnsFailure,
  'certificate-expiry': certificateExpiry,
  'third-party-slow': thirdPartySlow,
  'bad-pod': badPod,
  'region-only': regionOnly,
  quiet: quiet.quiet,
  'traffic-peak': quiet.trafficPeak,
  'traffic-dip': quiet.trafficDip,
  'traffic-growth': quiet.trafficGrowth,
  'harmless-deploy': quiet.harmlessDeploy,
  'many-deploys': quiet.manyDeploys,
  'rolling-restart': quiet.rollingRestart,
  'steady-failures': symptoms.steadyFailures,
  'steady-failures-in-peak': symptoms.steadyFailuresInPeak,
  'steady-slowness': symptoms.steadySlowness,
  'few-outliers': symptoms.fewOutliers,
  'busy-batch': symptoms.busyBatch,
  sawtooth: symptoms.sawtooth,
  'log-flood': symptoms.logFlood,
  'error-lines': symptoms.errorLines,
  bots: symptoms.bots,
  sale: symptoms.sale,
  'flag-without-effect': symptoms.flagWithoutEffect,
  'short-blip': symptoms.shortBlip,
  'quicker-now': symptoms.quickerNow,
  'disk-busy': symptoms.diskBusy,
} as const satisfies Record<string, Scenario>;
export type ScenarioName = keyof typeof scenarios;

export function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name);
}
