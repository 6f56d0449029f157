export * from './plugin.ts';
export * from './component.ts';
export * from './errors.ts';
export * from './connection-trouble.ts';
export * from './ids.ts';
export {
  bodyWithin,
  bytesWithin,
  flag,
  isObject,
  issueText,
  issueWords,
  nestsDeeperThan,
  parseJson,
  problemAt,
  requestWithin,
  wholeNumber,
  type JsonObject,
} from './json.ts';
export { code, fenced, shortened } from './quote.ts';
export type * from './instruments.ts';
export * from './tool.ts';
