import { createServer, request as httpRequest } from 'node:http';
import { listen } from './listen.ts';

/** Forwards everything and adds a bearer token, for clients that cannot send one. Host and Origin pass as they came. */
export interface TokenProxy {
  readonly origin: string;
  forwardTo(url: string, token: string): void;
  stop(): Promise<void>;
}

export async function startTokenProxy(): Promise<TokenProxy> {
  let target: URL | undefined;
  let authorization = '';
  const server = createServer((request, response) => {
    if (target === undefined) {
      response.writeHead(503).end();
      return;
    }
    const upstream = httpRequest(
      { host: target.hostname, port: target.port, path: request.url, method: request.method, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined) upstream.setHeader(name, value);
    upstream.setHeader('authorization', authorization);
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    request.pipe(upstream);
  });
  const port = await listen(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    forwardTo(url, token) {
      target = new URL(url);
      authorization = `Bearer ${token}`;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
