import { readdir, readFile } from 'node:fs/promises';

/** Processes whose command line has both texts in it. */
export async function findProcesses(...texts: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (texts.every((text) => line.includes(text))) found.push(Number(name));
  }
  return found;
}

/** User and system time of a process so far. */
export async function cpuSeconds(pid: number): Promise<number> {
  return (await statOf(pid)).ownSeconds;
}

async function statOf(pid: number) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  const seconds = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) / 100;
  return { parent: Number(fields[1]), ownSeconds: seconds(11), endedChildrenSeconds: seconds(13) };
}

/** The same of a process and all that it has started, those that have ended too. */
export async function treeCpuSeconds(pid: number): Promise<number> {
  const times = await Promise.all(
    (await treeOf(pid)).map(async (each) => {
      // One may end between two looks.
      const stat = await statOf(each).catch(() => undefined);
      return stat === undefined ? 0 : stat.ownSeconds + stat.endedChildrenSeconds;
    }),
  );
  return times.reduce((sum, time) => sum + time, 0);
}

/** Resident memory of a process and all that it has started. */
export async function treeResidentMb(pid: number): Promise<number> {
  const sizes = await Promise.all((await treeOf(pid)).map((each) => residentMb(each).catch(() => undefined)));
  return sizes.reduce((sum, size) => sum + (size?.now ?? 0), 0);
}

async function treeOf(root: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const children = new Map<number, number[]>();
  for (const pid of pids) {
    const stat = await statOf(pid).catch(() => undefined);
    if (stat !== undefined) children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Resident memory: now, and at its highest. */
export async function residentMb(pid: number): Promise<{ readonly now: number; readonly highest: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (key: string) => Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { now: of('VmRSS'), highest: of('VmHWM') };
}
