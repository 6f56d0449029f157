import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { SightlineError, newId, toId, type OrganizationId } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { decodeRequest } from '../../telemetry/ingest/decode.ts';
import { demoQuestion, generate, groundTruth, isScenario, scenarios, type DemoOptions } from '../demo/index.ts';
import { openCache, openLaboratory } from './laboratory.ts';
import type { EvalCase } from './case.ts';
import type { Prepared } from './data-set.ts';

export interface ShopOptions {
  /** One shop of every scenario for each. */
  readonly seeds: readonly number[];
  /** Minutes from the last span to the question. */
  readonly after?: number;
  /** Called with 0 to 1 while shops are generated. */
  readonly onProgress?: (progress: number) => void;
}

const end = new Date('2026-03-01T12:00:00Z');
const minutes = 60;

/** Every scenario of the demo shop, asked about as a person would ask, without a time. */
export async function prepareShop({ seeds, after = 0, onProgress }: ShopOptions): Promise<Prepared> {
  const names = Object.keys(scenarios).filter(isScenario);
  const wanted = seeds.flatMap((seed) => names.map((scenario): DemoOptions => ({ scenario, seed, minutes, end })));
  const cache = openCache(['shop', ...seeds.map(String), ...generatorFiles()]);
  const laboratory = await openLaboratory(cache.directory);
  try {
    const kept = cache.read(keptShape) ?? {};
    const organizations = new Map(Object.entries(kept).map(([name, id]) => [name, toId('org', id)]));
    for (const [index, options] of wanted.entries()) {
      if (organizations.has(nameOf(options))) continue;
      organizations.set(nameOf(options), await loadShop(laboratory.telemetry, options));
      onProgress?.((index + 1) / wanted.length);
    }
    cache.write(Object.fromEntries(organizations));
    return { laboratory, cases: wanted.map((options) => caseOf(options, after, organizations.get(nameOf(options)))) };
  } catch (error) {
    await laboratory.close();
    throw error;
  }
}

const keptShape = z.record(z.string(), z.string());

function nameOf({ scenario, seed }: DemoOptions): string {
  return `${scenario}/${seed}`;
}

/** When the generator changes, its shops are rebuilt. */
function generatorFiles(): readonly string[] {
  const folder = fileURLToPath(new URL('../demo/', import.meta.url));
  return readdirSync(folder).map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`);
}

function caseOf(options: DemoOptions, after: number, organizationId: OrganizationId | undefined): EvalCase {
  if (organizationId === undefined) throw new SightlineError('internal', 'A shop was not generated.');
  const { service, onset } = groundTruth(options);
  return {
    name: nameOf(options),
    type: options.scenario,
    service,
    organizationId,
    question: demoQuestion(options),
    askedAt: new Date(end.getTime() + after * 60_000),
    onset,
  };
}

/** Puts a demo shop's telemetry into an organization of its own. All of it at once: it has to fit into memory. */
export async function loadShop(telemetry: Telemetry, options: DemoOptions): Promise<OrganizationId> {
  const organizationId = newId('org');
  const batches: Uint8Array[] = [];
  for (const { signal, body } of generate(options)) {
    const decoded = decodeRequest(signal, 'json', Buffer.from(body), options.end.getTime());
    if (!decoded.ok) throw new SightlineError('internal', decoded.message);
    batches.push(...decoded.batches.map(({ frame }) => frame));
  }
  const upTo = { segment: 1, offset: 1 };
  await telemetry.sink?.load({ organizationId, log: 'eval', batches, upTo }, AbortSignal.timeout(120_000));
  return organizationId;
}
