import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Credentials {
  readonly keyFilename: string;
  remove(): Promise<void>;
}

/** Workload identity federation with the stand-in as its token service, so that the client needs no network. */
export async function federatedCredentials(endpoint: string): Promise<Credentials> {
  const directory = await mkdtemp(join(tmpdir(), 'sl-bigquery-'));
  const subject = join(directory, 'subject-token');
  const keyFilename = join(directory, 'credentials.json');
  await writeFile(subject, 'subject', { mode: 0o600 });
  const credentials = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/test/providers/test',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${endpoint}/token`,
    credential_source: { file: subject },
  };
  await writeFile(keyFilename, JSON.stringify(credentials), { mode: 0o600 });
  return { keyFilename, remove: () => rm(directory, { recursive: true, force: true }) };
}
