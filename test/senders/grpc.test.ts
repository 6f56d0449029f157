import { afterEach, describe, expect, it } from '@jest/globals';
import { connect as connectHttp2 } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { protobuf } from '../support/otlp/protobuf.ts';
import { exportPath, grpcSender, traces } from '../support/otlp/grpc.ts';
import { grpcPort, openReceiving, type Receiving } from '../support/senders.ts';

let receiving: Receiving;
afterEach(() => receiving.close());

const counted = 'SELECT name, count(*) FROM otel.spans GROUP BY name';

/** Sends spans of names that are sent once, over several connections, until told to stop. */
function sendMany(
  port: number,
  token: string,
  stop: AbortSignal,
): { acknowledged: Set<string>; done: Promise<unknown> } {
  const acknowledged = new Set<string>();
  const connection = async (line: number): Promise<void> => {
    const sender = grpcSender(port, token);
    for (let turn = 0; !stop.aborted; turn += 1) {
      const names = Array.from({ length: 5 }, (_, index) => `${line}/${turn}/${index}`);
      await sender.spans(names).then(
        () => names.forEach((name) => acknowledged.add(name)),
        () => delay(20),
      );
    }
    sender.close();
  };
  return { acknowledged, done: Promise.all([0, 1, 2, 3].map(connection)) };
}

describe('a gateway that takes gRPC', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('has stored what it acknowledged before %s, once', async (signal) => {
    receiving = await openReceiving({ grpc: { port: 0 } });
    const stop = new AbortController();
    const { acknowledged, done } = sendMany(grpcPort(receiving.gateway), receiving.token, stop.signal);
    while (acknowledged.size < 200) await delay(20);
    if (signal === 'SIGKILL') await receiving.gateway.kill();
    else expect(await receiving.gateway.stop()).toBe(0);
    stop.abort();
    await done;
    await receiving.restart();
    const stored = new Map((await receiving.rows(counted, acknowledged.size)).map(([name, count]) => [name, count]));
    expect([...acknowledged].filter((name) => stored.get(name) !== '1')).toEqual([]);
  });

  it('takes calls in each of its workers, at one port', async () => {
    receiving = await openReceiving({ grpc: { port: 0 } }, 2);
    const ports = [...receiving.gateway.output().matchAll(/"grpc":(\d+)/g)].map(([, port]) => port);
    expect([ports.length, new Set(ports).size]).toEqual([2, 1]);
    const names = Array.from({ length: 12 }, (_, index) => `span ${index}`);
    for (const name of names) {
      const sender = grpcSender(Number(ports[0]), receiving.token);
      await sender.spans([name]);
      sender.close();
    }
    expect(await receiving.rows(counted, names.length)).toHaveLength(names.length);
  });

  it('takes a message of 30 MB', async () => {
    receiving = await openReceiving({ grpc: { port: 0 } });
    const sender = grpcSender(grpcPort(receiving.gateway), receiving.token);
    const names = Array.from({ length: 500 }, (_, index) => `${index} ${'x'.repeat(60_000)}`);
    expect(await sender.spans(names)).toHaveLength(0);
    sender.close();
    expect(await receiving.rows('SELECT count(*) FROM otel.spans HAVING count(*) = 500')).toEqual([['500']]);
  });

  it('says which port to use, once an address, to those who come to the other', async () => {
    receiving = await openReceiving({ grpc: { port: 0 } });
    const { url } = receiving.gateway;
    for (let times = 0; times < 2; times += 1) {
      const session = connectHttp2(url);
      session.on('error', () => undefined);
      await new Promise((resolve) => session.on('close', resolve));
    }
    const sender = grpcSender(Number(new URL(url).port), receiving.token);
    const message = Buffer.from(protobuf('traces', traces(['lost'])));
    await expect(sender.send(exportPath('traces'), message)).rejects.toThrow();
    sender.close();
    expect(receiving.gateway.output().match(/A gRPC sender came to the HTTP port: use port/g)).toHaveLength(1);
  });
});
