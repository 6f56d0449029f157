export type * from './alerts.ts';
export * from './alert-notice.ts';
export * from './alert-proof.ts';
