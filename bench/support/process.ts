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
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory: now, and at its highest. */
export async function residentMb(pid: number): Promise<{ readonly now: number; readonly highest: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const of = (key: string) => Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { now: of('VmRSS'), highest: of('VmHWM') };
}
