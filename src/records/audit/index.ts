export type { Problem } from './chain-check.ts';
export { exportAudit } from './export.ts';
export { verifyAuditFile } from './verify-file.ts';
export { verifyAudit } from './verify.ts';
export type { Head } from './verify.ts';
