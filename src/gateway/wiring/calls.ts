import type { Instruments } from '../../contract/core/index.ts';
import { refuseOverload } from '../http/admission.ts';
import type { Inflow } from '../http/admission.ts';
import type { HttpRequest, HttpResponse } from '../../mcp/http-message.ts';
import type { McpListener } from '../../mcp/handler.ts';
import { timeRequest } from './time-request.ts';

/** @param begin what is done for a call once it is admitted. */
export type Calls = (request: HttpRequest, response: HttpResponse, begin?: () => void) => void;

/** Where calls are sent to. A proxy may hand on the path of publicUrl or strip it. */
export function callPaths(basePath: string): readonly string[] {
  return basePath === '/' ? ['/mcp'] : ['/mcp', `${basePath}/mcp`];
}

/** The way of a call to the MCP endpoint, whoever read it from its socket. */
export function admitCalls({
  mcp,
  inflow,
  instruments,
}: {
  readonly mcp: McpListener;
  readonly inflow: Inflow;
  readonly instruments?: Instruments | undefined;
}): Calls {
  return (request, response, begin) => {
    if (instruments) timeRequest(instruments, request, response, '/mcp');
    if (!inflow.admit(response)) {
      instruments?.refused('http', 'overloaded');
      return refuseOverload('/mcp', response);
    }
    begin?.();
    mcp(request, response);
  };
}
