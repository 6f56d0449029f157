import { newId, SightlineError } from '../../contract/core/index.ts';
import type { OrganizationId } from '../../contract/core/index.ts';
import type { Telemetry } from '../../contract/telemetry/index.ts';
import { generate } from '../demo/index.ts';
import type { DemoOptions } from '../demo/index.ts';
import { decodeRequest } from '../../telemetry/ingest/decode.ts';

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
