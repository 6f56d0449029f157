/** What a Prometheus text says: by name of the series, its labels and values. Throws where a line is none. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** By family. */
  readonly types: ReadonlyMap<string, string>;
  /** Sum of the series of this name with these labels, whatever others they have; undefined where there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gy;

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || !type.startsWith('text/plain; version=0.0.4')) throw new Error(`${response.status} ${type}`);
  return parseMetrics(await response.text());
}

export function parseMetrics(text: string): Scrape {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    const [, family, kind] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (family !== undefined && kind !== undefined) {
      if (types.has(family)) throw new Error(`two families are named ${family}`);
      types.set(family, kind);
    }
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = '', value] = sampleLine.exec(line) ?? [];
    if (name === undefined || Number.isNaN(Number(value?.replace('+Inf', 'Infinity'))))
      throw new Error(`no sample: ${line}`);
    samples.push({ name, labels: labelsOf(labels), value: Number(value) });
  }
  return {
    text,
    types,
    samples,
    value(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(label)];
  if (found.map(([whole]) => whole).join('') !== text) throw new Error(`no labels: ${text}`);
  return Object.fromEntries(found.map(([, key = '', value = '']) => [key, value]));
}
