import { auditVerdicts } from './audit.ts';
import { investigationVerdict } from './investigations.ts';
import { requestVerdicts } from './requests.ts';
import { resourceVerdicts } from './resources.ts';
import type { Run, Verdict } from './verdict.ts';
import { writeVerdicts } from './writes.ts';

/** Looks at everything, while the gateways still run and nothing is sent any more. */
export async function verdictsOf(run: Run): Promise<readonly Verdict[]> {
  const investigations = await investigationVerdict(run);
  const writes = await writeVerdicts(run);
  return [...writes, investigations, ...(await auditVerdicts(run)), ...requestVerdicts(run), ...resourceVerdicts(run)];
}
