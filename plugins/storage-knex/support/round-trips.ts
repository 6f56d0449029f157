import { connect, createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../../test/support/listen.ts';

/** Stands between a client and a server, and counts how often the client spoke after the server did. */
export class CountingProxy {
  roundTrips = 0;
  /** Nothing arrives any more, and nobody is told. */
  swallows = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port: number;

  constructor(host: string, port: number) {
    this.#port = port;
    this.#server = createServer((near) => {
      const far = connect(this.#port, host);
      let clientSpoke = false;
      near.on('data', (data) => {
        if (!clientSpoke) this.roundTrips += 1;
        clientSpoke = true;
        if (!this.swallows) far.write(data);
      });
      far.on('data', (data) => {
        clientSpoke = false;
        if (!this.swallows) near.write(data);
      });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
      }
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    });
  }

  open(): Promise<number> {
    return listen(this.#server);
  }

  /** From now on it is another server, and connections to the one before have ended. */
  turnTo(port: number): void {
    this.#port = port;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
