import { describeTable } from './describe.ts';
import { listServices } from './list-services.ts';
import { lookCloser } from './look-closer.ts';
import { makePlan } from './make-plan.ts';
import { queryOtel } from './query-otel.ts';
import type { Tool } from './tool.ts';
import { traceTree } from './trace-tree.ts';

/** What a model may look with. Those that end the investigation are the loop's own. */
export const lookingTools: readonly Tool[] = [makePlan, queryOtel, describeTable, listServices, traceTree, lookCloser];
