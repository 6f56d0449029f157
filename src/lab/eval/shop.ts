import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { SightlineError, newId, toId, type OrganizationId } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { decodeRequest } from '../../telemetry/ingest/decode.ts';
import {
  demoQuestion,
  generate,
  groundTruth,
  isScenario,
  scenarios,
  type DemoOptions,
  type OtlpSignal,
} from '../demo/index.ts';
import { generateParcels, onsetOf, parcelScenarios } from '../parcels/generate.ts';
import { openCache, openLaboratory } from './laboratory.ts';
import type { EvalCase, Prepared } from './data-set.ts';

export interface ShopOptions {
  /** Whose faults: the demo shop's, or a carrier's with queues, jobs and a shared database. */
  readonly system: 'shop' | 'parcels';
  /** One system of every scenario for each. */
  readonly seeds: readonly number[];
  /** Minutes from the last span to the question. */
  readonly after?: number;
  /** Requests a minute. */
  readonly rate?: number | undefined;
  /** The one signal that is sent; all unless told. */
  readonly only?: OtlpSignal | undefined;
  /** Called with 0 to 1 while systems are generated. */
  readonly onProgress?: (progress: number) => void;
}

const end = new Date('2026-03-01T12:00:00Z');
const minutes = 60;

/** One generated system, and what should be found in it. */
interface Generated extends Pick<EvalCase, 'type' | 'service' | 'question' | 'onset'> {
  readonly name: string;
  readonly bodies: () => Bodies;
}

type Bodies = Iterable<{ readonly signal: OtlpSignal; readonly body: string }>;

/** Every scenario of a system, asked about as a person would ask, without a time. */
export async function prepareShop(options: ShopOptions): Promise<Prepared> {
  const { system, seeds, after = 0, rate, only, onProgress } = options;
  const wanted = seeds.flatMap((seed) => (system === 'shop' ? shops(seed, rate) : parcels(seed, rate)));
  const cache = openCache([system, ...seeds.map(String), String(rate), String(only), ...generatorFiles()]);
  const laboratory = await openLaboratory(cache.directory);
  try {
    const kept = cache.read(keptShape) ?? {};
    const organizations = new Map(Object.entries(kept).map(([name, id]) => [name, toId('org', id)]));
    for (const [index, { name, bodies }] of wanted.entries()) {
      if (organizations.has(name)) continue;
      organizations.set(name, await loadGenerated(laboratory.telemetry, bodies(), { end, only }));
      onProgress?.((index + 1) / wanted.length);
    }
    cache.write(Object.fromEntries(organizations));
    const askedAt = new Date(end.getTime() + after * 60_000);
    const cases = wanted.map(({ name, type, service, question, onset }): EvalCase => {
      const organizationId = organizations.get(name);
      if (organizationId === undefined) throw new SightlineError('internal', `${name} was not generated.`);
      return { name, type, service, question, onset, organizationId, askedAt };
    });
    return { laboratory, cases };
  } catch (error) {
    await laboratory.close();
    throw error;
  }
}

const keptShape = z.record(z.string(), z.string());

function shops(seed: number, rate: number | undefined): readonly Generated[] {
  return Object.keys(scenarios)
    .filter(isScenario)
    .map((scenario) => {
      const options: DemoOptions = { scenario, seed, minutes, end, ...(rate !== undefined && { rate }) };
      const { service, onset } = groundTruth(options);
      const bodies = (): Bodies => generate(options);
      return { name: `${scenario}/${seed}`, type: scenario, service, question: demoQuestion(options), onset, bodies };
    });
}

function parcels(seed: number, rate = 60): readonly Generated[] {
  return parcelScenarios().map(([scenario, { cause, question }]) => {
    const options = { scenario, seed, minutes, end, rate };
    const bodies = (): Bodies => generateParcels(options);
    return { name: `${scenario}/${seed}`, type: scenario, service: cause, question, onset: onsetOf(options), bodies };
  });
}

/** When a generator changes, its systems are rebuilt. */
function generatorFiles(): readonly string[] {
  return ['../demo/', '../parcels/'].flatMap((path) => {
    const folder = fileURLToPath(new URL(path, import.meta.url));
    return readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`);
  });
}

/** Puts a demo shop's telemetry into an organization of its own. All of it at once: it has to fit into memory. */
export async function loadShop(telemetry: Telemetry, options: DemoOptions): Promise<OrganizationId> {
  return await loadGenerated(telemetry, generate(options), options);
}

/** The same of any generator. */
export async function loadGenerated(
  telemetry: Telemetry,
  bodies: Bodies,
  { end: sentAt, only }: { readonly end: Date } & Pick<ShopOptions, 'only'>,
): Promise<OrganizationId> {
  const organizationId = newId('org');
  const batches: Uint8Array[] = [];
  for (const { signal, body } of bodies) {
    if (only !== undefined && signal !== only) continue;
    const decoded = decodeRequest(signal, 'json', Buffer.from(body), sentAt.getTime());
    if (!decoded.ok) throw new SightlineError('internal', decoded.message);
    batches.push(...decoded.batches.map(({ frame }) => frame));
  }
  const upTo = { segment: 1, offset: 1 };
  await telemetry.sink?.load({ organizationId, log: 'eval', batches, upTo }, AbortSignal.timeout(120_000));
  return organizationId;
}
