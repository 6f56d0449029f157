export * from './scopes.ts';
export type * from './auth.ts';
export type * from './tokens.ts';
export { answeredParam, authorizationServerSchema, pagePaths, scimPath } from './authorization.ts';
export type * from './authorization.ts';
export type * from './sign-in.ts';
