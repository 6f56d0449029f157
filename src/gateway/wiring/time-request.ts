import type { Instruments } from '../../contract/core/index.ts';
import type { HttpRequest, HttpResponse } from '../../mcp/http-message.ts';

/** @param route not a page's own path, in which ids stand. */
export function timeRequest(
  instruments: Instruments,
  { method }: HttpRequest,
  response: HttpResponse,
  route: string | undefined,
): void {
  const since = performance.now();
  response.on('close', () =>
    instruments.httpRequest(method, route, response.headersSent ? response.statusCode : undefined, since),
  );
}
