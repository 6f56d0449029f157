import { SightlineError } from '../../contract/core/index.ts';
import type { Vault } from '../../contract/core/index.ts';
import type { TransferRow } from '../../contract/storage/index.ts';

/** What is kept sealed, and the context each was sealed under. */
const sealed: Readonly<Record<string, { readonly column: string; readonly context: (row: TransferRow) => string }>> = {
  signing_keys: { column: 'sealed_private_jwk', context: ({ kid }) => `signing-key:${String(kid)}` },
  ingest_tokens: { column: 'sealed', context: ({ id }) => `ingest-token:${String(id)}` },
  webhooks: { column: 'sealed_secret', context: ({ id }) => `webhook:${String(id)}` },
  alert_sources: { column: 'sealed', context: ({ id }) => `alert-source:${String(id)}` },
};

/** Sealed values are moved as they are. One that does not open here would first be missed when it is needed. */
export function requireOpening(vault: Vault, table: string, row: TransferRow): void {
  const known = sealed[table];
  if (known === undefined) return;
  try {
    vault.open(String(row[known.column]), known.context(row));
  } catch (cause) {
    throw new SightlineError('config_invalid', 'The export has secrets under a master key that is not here.', {
      hint: 'Bring the whole master.key of the exported workspace: while a key is replaced there are several in it.',
      cause,
    });
  }
}
