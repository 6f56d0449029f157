import { Socket } from 'node:net';

const arrivals = Buffer.allocUnsafeSlow(128 << 10);

/**
 * A socket that makes no buffer for each of its reads: what arrives lies in one that all of them share, until the listener
 * returns. Buffers by the dozen, of 64 KiB each, had the collector run over all of the memory again and again.
 */
export class SharingSocket extends Socket {
  /** Whoever listens to `data` keeps nothing of it. Until that is said, each gets a copy. */
  shares = false;

  constructor() {
    super({
      onread: {
        buffer: arrivals,
        callback: (bytes, buffer) => {
          const arrived = Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
          this.emit('data', this.shares ? arrived : Buffer.from(arrived));
          return true;
        },
      },
    });
  }
}
