import { createHash } from 'node:crypto';

const mark = 'sightline-setup:';

/** What a set-up was printed for, part by part, short enough to be kept beside what it makes. Of a list the order is no matter. */
export function fingerprint(parts: Readonly<Record<string, readonly string[]>>): string {
  const digests = Object.entries(parts).map(([name, lines]) => {
    const digest = createHash('sha256').update(JSON.stringify(lines.toSorted())).digest('hex');
    return `${name}=${digest.slice(0, 12)}`;
  });
  return `${mark}${digests.join(',')}`;
}

/** Names of the parts that are not as they were printed; undefined where what is kept is no fingerprint. */
export function changedParts(kept: string, now: string): readonly string[] | undefined {
  if (!kept.startsWith(mark)) return undefined;
  const known = new Map(partsOf(kept));
  return partsOf(now).flatMap(([name, digest]) => (known.get(name) === digest ? [] : [name]));
}

function partsOf(text: string): readonly (readonly [name: string, digest: string])[] {
  return text
    .slice(mark.length)
    .split(',')
    .map((part) => [part.split('=')[0] ?? '', part.split('=')[1] ?? '']);
}
