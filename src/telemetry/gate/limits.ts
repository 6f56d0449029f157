/** Longer statements answer no real question. */
export const maxCharacters = 64 * 1024;
export const maxTokens = 16_000;
/** Of brackets, subqueries, CASE and operators within each other: both our recursion and the engine's are bounded by it. */
export const maxDepth = 100;
/** Items of one FROM, and telemetry tables in all: more become the engine's work before ours. */
export const maxFromItems = 32;
export const maxReads = 64;
