import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import { isId, SightlineError, type Logger, type OrganizationId, type Vault } from '../../contract/core/index.ts';
import type { KeptResultBounds, KeptResultRepository } from '../../contract/storage/index.ts';
import { readPage, type KeptResult } from './kept-page.ts';
import { defaultKeptResultsLimits, resultExpired, shelfOf, type Holder, type KeptPages } from './kept-results.ts';

const { keepMs, perPrincipal, overallBytes } = defaultKeptResultsLimits;
const bounds: KeptResultBounds = { perHolder: perPrincipal, overall: { results: 500, bytes: overallBytes } };
/** What is kept, and where its rows end. */
const mostBytes = perPrincipal.bytes * 2;

export interface SharedKeptResultsOptions {
  readonly results: (organizationId: OrganizationId) => KeptResultRepository;
  readonly vault: Pick<Vault, 'seal' | 'open'>;
  /** False while no other gateway can be asked for what is kept here. */
  readonly several: () => Promise<boolean>;
  readonly now: () => Date;
  readonly logger: Logger;
}

/**
 * Cut results that every gateway over a storage pages in. The rows themselves are kept and not the statement: run again, one
 * without an order would give its rows in another, and pages would skip and repeat. Sealed, so that the storage holds no
 * telemetry that can be read, for their holder and id.
 */
export function shareKeptResults(own: KeptPages, options: SharedKeptResultsOptions): KeptPages {
  const { results, vault, several, now, logger } = options;

  async function share(holder: Holder, id: string, result: KeptResult): Promise<void> {
    if (!(await several())) return;
    const name = nameOf(holder);
    const sealed = vault.seal(await packed(result), contextOf(name, id));
    const expiresAt = new Date(now().getTime() + keepMs);
    await results(holder.organizationId).keep({ id, holder: name, sealed, expiresAt }, bounds, now());
  }

  async function find(holder: Holder, id: string): Promise<KeptResult> {
    if (!isId('res', id)) throw resultExpired();
    const name = nameOf(holder);
    const sealed = await results(holder.organizationId).find(id, name, now());
    if (sealed === undefined) throw resultExpired();
    try {
      return await unpacked(vault.open(sealed, contextOf(name, id)));
    } catch (error) {
      logger.warn({ error }, 'a cut result in the storage cannot be read');
      throw resultExpired();
    }
  }

  return {
    async keep(holder, result) {
      const id = await own.keep(holder, result);
      try {
        if (id !== undefined) await share(holder, id, result);
      } catch (error) {
        // The answer is worth more than its pages elsewhere.
        logger.warn({ error }, 'a cut result could not be kept for the other gateways');
      }
      return id;
    },
    async page(holder, id, request) {
      try {
        return await own.page(holder, id, request);
      } catch (error) {
        if (!(error instanceof SightlineError && error.code === 'result_expired')) throw error;
      }
      const kept = await find(holder, id);
      return { ...kept, ...readPage(kept, request) };
    },
    clear: () => own.clear(),
  };
}

const head = z.object({
  dialect: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string(), untrusted: z.boolean() })),
  cutBy: z.enum(['rows', 'bytes']).exactOptional(),
  window: z
    .object({
      start: z.coerce.date().exactOptional(),
      end: z.coerce.date().exactOptional(),
      source: z.enum(['argument', 'predicates', 'default']),
    })
    .exactOptional(),
  ends: z.array(z.int()),
});

/** A line of JSON, and behind it the rows as they are. */
async function packed({ rows, ...told }: KeptResult): Promise<Buffer> {
  const line = Buffer.from(`${JSON.stringify({ ...told, ends: rows.ends })}\n`);
  return promisify(gzip)(Buffer.concat([line, rows.json]), { level: 1 });
}

async function unpacked(bytes: Uint8Array): Promise<KeptResult> {
  const plain = await promisify(gunzip)(bytes, { maxOutputLength: mostBytes });
  const line = plain.indexOf('\n');
  const { ends, ...told } = head.parse(JSON.parse(plain.subarray(0, line).toString()));
  return { ...told, rows: { json: plain.subarray(line + 1), ends } };
}

function nameOf(holder: Holder): string {
  return createHash('sha256').update(shelfOf(holder)).digest('hex');
}

function contextOf(name: string, id: string): string {
  return `kept-result:${name}:${id}`;
}
