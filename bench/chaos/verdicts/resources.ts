import type { Course } from '../gauges.ts';
import type { Run, Verdict } from './verdict.ts';

/** What a gateway holds when it starts would double in an hour. */
const memorySlopeMb = 1;
const connectionsSlope = 1;
const replicas = 3;
/** Of docs/storage.md: the pool, one that listens, one while it starts; and a command's own pool. */
const storageMost = replicas * (10 + 2) + (10 + 1);
/** The pool's size for each of the two logins (see the test warehouse). */
const telemetryMost = replicas * 4 * 2;

export function resourceVerdicts({ gauges, speedJudged }: Run): readonly Verdict[] {
  const { live, storageConnections, telemetryConnections } = gauges;
  const bounds = [
    bounded('connections to the storage', storageConnections, storageMost),
    bounded('connections to the telemetry', telemetryConnections, telemetryMost),
  ];
  if (!speedJudged) return bounds;
  return [
    ...bounds,
    flat('live memory', live, memorySlopeMb, ' MB'),
    flat('connections to the storage', storageConnections, connectionsSlope),
    flat('connections to the telemetry', telemetryConnections, connectionsSlope),
  ];
}

function bounded(what: string, { highest }: Course, most: number): Verdict {
  return {
    promise: `${what}: never over ${most}`,
    looked: `at most ${highest}`,
    evidence: highest <= most ? [] : [`${highest} were open at once`],
  };
}

function flat(what: string, { baseline, end, slope, minutes }: Course, most: number, unit = ''): Verdict {
  const looked = `${baseline.toFixed(0)} to ${end.toFixed(0)}${unit}, ${slope.toFixed(1)} a minute over ${minutes.toFixed(1)} min`;
  return { promise: `${what}: flat`, looked, evidence: slope <= most ? [] : [`it grows: ${looked}`] };
}
