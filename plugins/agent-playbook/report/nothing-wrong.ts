import type { Claim, Conclusion } from '../../../src/contract/storage/index.ts';
import type { Clues } from '../clues.ts';
import { usual, type Windows } from '../notebook.ts';
import { code, moment, names, percent } from '../sql.ts';
import type { Scene } from '../scene.ts';
import type { Changes } from '../steps/changes.ts';
import { describe as describeErrors } from '../steps/error-shift.ts';
import { callsOf, describe as describeLatency, lightestTraffic, type LatencyChange } from '../steps/latency-shift.ts';
import { describeFewer, type Fewer } from '../steps/load.ts';
import { describe as describeLog } from '../steps/log-patterns.ts';
import type { Onset } from '../steps/onset.ts';
import { describe as describeGauge } from '../steps/resources.ts';
import { describe as describeSilent } from '../steps/silence.ts';
import { starving } from '../ranking.ts';
import { rate, thresholds } from '../statistics.ts';
import { changed, claim, notChecked, nothingFound, type Report } from './findings.ts';
import { affected, suspicionsOf } from './wording.ts';

/** All that was asked where no service is suspected. */
export interface Unsuspected {
  readonly clues: Clues;
  readonly changes: Changes;
  /** Of all failures together, where no operation has many calls. */
  readonly rise: Onset | undefined;
  readonly fewer: Fewer | undefined;
}

/**
 * No service is blamed. That nothing is wrong is said where operations were seen on both sides, often enough to show a rare fault,
 * and none has changed.
 */
export function nothingWrong(
  scene: Scene,
  { clues, changes, rise, fewer }: Unsuspected,
  notes: readonly string[],
): Report {
  const { focus, windows } = scene;
  const { errors, latency, logs, resources, ended } = clues;
  const ids = [errors.evidenceId, ...(latency ? [latency.evidenceId] : [])];
  const whose = focus.services.length === 0 ? '' : ` in ${names(focus.services.slice(0, 5))}`;
  const failing = errors.changes.filter(({ worse }) => worse);
  const slower = latency?.changes.filter(({ worse }) => worse) ?? [];
  const compared = latency !== undefined && !latency.failed && latency.changes.length > 0;
  const risen =
    rise?.at && failing.length === 0
      ? `Failures of all operations together rise at about ${moment(rise.at)}`
      : undefined;
  const checked = !errors.failed && compared;
  const busiest = lightestTraffic(latency);
  const light = checked && busiest !== undefined && callsOf(busiest) < enough ? busiest : undefined;
  const claims: Claim[] = [...affected(clues)];
  if (!errors.failed && compared && failing.length === 0) {
    claims.push(
      claim(`No ${risen === undefined ? '' : 'single '}operation fails more than before`, [errors.evidenceId]),
    );
  }
  if (compared && slower.length === 0) claims.push(claim('No operation is slower than before', [latency.evidenceId]));
  if (latency && light && failing.length + slower.length === 0) {
    claims.push(claim(littleTraffic(light), [latency.evidenceId]));
  }
  const steady = errors.changes.filter(({ now, before }) => now.hits >= 20 && rate(now) >= 0.05 && before.total > 0);
  for (const change of steady.filter(({ worse }) => !worse).slice(0, 3)) {
    claims.push(claim(`${describeErrors(change)}: high, but not new`, [errors.evidenceId]));
  }
  const gauges = compared || !resources ? [] : resources.changes.slice(0, 3);
  // No fault by itself, and no reason to keep silent about it.
  const full = starving(resources).filter(({ excess }) => compared && excess >= thresholds.exhausted);
  if (risen !== undefined) claims.push(claim(risen, [rise?.evidenceId ?? '']));
  // No fault of an operation, and yet not as it was.
  const missing = [
    ...ended.map((one) => claim(describeSilent(one), one.evidenceIds)),
    ...(fewer ? [claim(describeFewer(fewer), fewer.evidenceIds)] : []),
  ];
  claims.push(...missing);
  for (const one of full.slice(0, 2)) claims.push(claim(one.detail ?? '', one.evidenceIds));
  for (const gauge of gauges) claims.push(claim(describeGauge(gauge), [resources?.evidenceId ?? '']));
  const fresh = logs.worse.filter(({ isNew, isError }) => isNew && isError);
  const [log] = fresh.length > 0 ? fresh : logs.worse;
  // Where requests are seen and none fails more or is slower, lines alone are no fault.
  const blamed = log !== undefined && latency?.changes.length === 0;
  for (const pattern of logs.worse.slice(0, 5)) claims.push(claim(describeLog(pattern), [logs.evidenceId]));
  claims.push(...changed(changes, undefined));
  const moved = [
    ...failing.map(describeErrors),
    ...slower.map(describeLatency),
    ...(risen === undefined ? [] : [risen.replace(/^F/, 'f')]),
    ...gauges.map(describeGauge),
    ...fresh.map(describeLog),
  ];
  const began =
    failing.length + slower.length > 0 ? undefined : (rise?.at ?? fresh[0]?.first ?? ended[0]?.since ?? fewer?.at);
  const conclusion: Conclusion = {
    root_cause: log ? `Only the logs have changed: ${describeLog(log)}.` : '',
    category: blamed ? 'log_errors' : 'none',
    service: blamed ? (log?.service ?? '') : '',
    confidence: blamed ? 'low' : 'none',
    claims,
    not_checked: notChecked(scene, changes),
    ...(began && { onset: began.toISOString() }),
    // Nothing stands out, yet a person reported a problem: name the services to check first.
    ...(clues.named.length > 0 && { suspects: clues.named.slice(0, 8), suspicions: suspicionsOf(clues) }),
  };
  const headline = (): string => {
    const noisy = log && code(log.service, 60);
    if (blamed) return `${noisy} logs more warnings or errors than before; there are too few traces to say more`;
    const [first] = moved;
    if (first !== undefined) return `Something has changed${whose}, and its cause was not found: ${first}`;
    if (!checked) return `Whether anything is wrong${whose} cannot be told: too little could be compared`;
    const said = `no operation fails more or is slower than before${noisy ? `, though ${noisy} logs more warnings or errors` : ''}`;
    const until = scene.until ? ` until ${moment(scene.until)}, where the telemetry ends` : '';
    const rare =
      light && `Nothing stands out${whose}${until}, but in so few calls a rare fault would not show: ${said}`;
    if (missing.length === 0) return rare ?? `Nothing is wrong${whose}${until}: ${said}`;
    return `${missing.map(({ text }) => text).join(' ')} ${rare ?? `Beside that, ${said}`}`;
  };
  return {
    ...nothingFound,
    conclusion,
    headline: headline(),
    windows,
    ruledOut: checked && moved.length === 0 ? [`More failures and more slowness than before [${ids.join(', ')}].`] : [],
    nextSteps: [
      ...(log ? [`Look at what ${code(log.service, 60)} logs: ${code(log.example)}.`] : []),
      ...ended.map(({ service }) => `Check whether ${code(service, 60)} still runs, and what starts it.`),
      ...(fewer
        ? ['Check what brings the requests: DNS, a load balancer, a client that stopped, or only the hour.']
        : []),
      ...(log === undefined && missing.length === 0
        ? ['Name a service or another time if you see something that this did not.']
        : []),
    ],
    openQuestions: moved.length > 0 ? ['What is behind this change?'] : [],
    notes: checked || usual(windows).length === 0 ? notes : [...notes, tooFew(windows)],
  };
}

/** Calls of the busiest operation, on either side, in which what hits a few in a hundred shows. */
const enough = 100;
/** Failures of an operation that are seen. */
const fewestSeen = 5;

function littleTraffic(busiest: LatencyChange): string {
  const { service, operation, count, countBefore } = busiest;
  const rarest = percent(fewestSeen / callsOf(busiest));
  return `Nothing that hits fewer than ${rarest} of the calls would show: ${code(service, 60)} ${code(operation, 80)} has most of them, ${count} and ${countBefore} before`;
}

function tooFew({ now }: Windows): string {
  const between = `from ${moment(now.start)} to ${moment(now.end)}`;
  return `No operation has enough traces ${between} and before to be compared: 20 on either side.`;
}
