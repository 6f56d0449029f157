import { createServer } from 'node:https';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  isPublicAddress,
  createDocumentFetch,
  DocumentUnavailable,
  type DocumentFetch,
  BudgetExceeded,
  createFetchBudget,
  internet,
} from '../../src/identity/issue/clients/document-fetch.ts';
import { createUrlRules, documentUrl } from '../../src/identity/issue/clients/urls.ts';
import { selfSigned } from '../support/certificate.ts';
import { listen } from '../support/listen.ts';
import { publicAddress, stoppedClock, testInternet, type Internet } from './clients-support.ts';

let net: Internet;
beforeAll(async () => {
  net = await testInternet();
});
afterAll(() => net.close());
beforeEach(() => {
  net.names.clear();
  net.resolved.length = net.connected.length = net.requested.length = 0;
  net.serve = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

function fetcher(options: { allowedHosts?: readonly string[]; caller?: () => string } = {}): DocumentFetch {
  return createDocumentFetch({
    rules: createUrlRules(options.allowedHosts),
    network: net,
    budget: createFetchBudget({ now: stoppedClock().now, caller: options.caller ?? (() => '198.51.100.7') }),
  });
}

const url = new URL('https://client.example/client.json');

describe('isPublicAddress', () => {
  it.each([
    ['this machine', ['127.0.0.1', '127.9.9.9', '0.0.0.0', '0.1.2.3', '::', '::1']],
    ['private networks', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd00:ec2::254']],
    ['the link', ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
    ['carrier NAT and clouds', ['100.64.0.1', '100.100.100.200', '192.0.0.192', '168.63.129.16']],
    [
      'documentation and measuring',
      ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1', '3fff::1'],
    ],
    ['many at once', ['224.0.0.1', '239.1.1.1', '255.255.255.255', '240.0.0.1', 'ff02::1', 'ff0e::1']],
    ['mapped IPv4', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe', '::127.0.0.1', '::ffff:0:127.0.0.1']],
    ['mapped public IPv4', ['::ffff:93.184.215.14']],
    ['translated IPv4', ['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:1::1']],
    ['former site-local, discard and segment routing', ['fec0::1', '100::1', '5f00::1']],
    ['no address at all', ['', 'localhost', '2130706433', '0x7f.1', '127.1', '010.0.0.1', '[::1]']],
  ])('refuses %s', (_what, addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([]);
  });

  it('lets the open internet through', () => {
    const open = [publicAddress, '1.1.1.1', '172.32.0.1', '100.128.0.1', '169.253.1.1', '2606:4700:4700::1111'];
    expect(open.filter(isPublicAddress)).toEqual(open);
  });
});

describe('a URL that is fetched', () => {
  const rules = createUrlRules();

  it.each([
    'http://client.example/client.json',
    'https://client.example/',
    'https://client.example',
    'https://user@client.example/client.json',
    'https://user:secret@client.example/client.json',
    'https://client.example/client.json#',
    'https://client.example/client.json#part',
    'https://client.example:8443/client.json',
    'https://client.example:443/client.json',
    'https://CLIENT.example/client.json',
    'HTTPS://client.example/client.json',
    'https://client.example./client.json',
    'https://client.example/a/../client.json',
    'https://client.example/%2e%2e/client.json',
    'https://client.example/client .json',
    ' https://client.example/client.json',
    'https://client.example\\client.json',
    'https:client.example/client.json',
    'https://127.0.0.1/client.json',
    'https://2130706433/client.json',
    'https://0x7f000001/client.json',
    'https://0177.0.0.1/client.json',
    'https://127.1/client.json',
    'https://[::1]/client.json',
    'https://[::ffff:127.0.0.1]/client.json',
    'https://[::ffff:7f00:1]/client.json',
    'https://１２７.0.0.1/client.json',
    'https://93.184.215.14/client.json',
    'ftp://client.example/client.json',
    'file:///etc/passwd',
    `https://client.example/${'a'.repeat(300)}`,
    '',
  ])('is not %s', (id) => {
    const parsed = documentUrl(id);
    expect(parsed !== undefined && rules(parsed)).toBe(false);
  });

  it.each(['https://client.example/client.json', 'https://client.example/a?b=c', 'https://client.example/a/'])(
    'is %s',
    (id) => {
      const parsed = documentUrl(id);
      expect(parsed !== undefined && rules(parsed)).toBe(true);
    },
  );

  it('is of an allowed host and port where hosts are listed, and only those', () => {
    const listed = createUrlRules(['Client.Example:443', 'other.example:8443']);
    const asked = [
      'client.example/a',
      'client.example:8443/a',
      'other.example:8443/a',
      'other.example/a',
      'evil.example/a',
    ];
    expect(asked.filter((rest) => listed(new URL(`https://${rest}`)))).toEqual([
      'client.example/a',
      'other.example:8443/a',
    ]);
    expect(listed(new URL('https://sub.client.example/a'))).toBe(false);
  });

  it.each(['https://client.example', 'client.example/a', '*.example', 'user@client.example', 'client example', ''])(
    'is of no host that is listed as %j: that stops the start',
    (entry) => {
      expect(() => createUrlRules([entry])).toThrow('must be a host or host:port');
    },
  );
});

describe('the fetch of a document', () => {
  it('reads JSON from the address the name was resolved to', async () => {
    net.serve = (request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity');
      expect(request.headers.cookie).toBeUndefined();
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'max-age=60' });
      response.end('{"client_name":"é"}');
    };
    const { text, headers } = await fetcher()(url);
    expect([text, headers['cache-control']]).toEqual(['{"client_name":"é"}', 'max-age=60']);
    expect(net.connected).toEqual([{ host: 'client.example', port: 443, addresses: [publicAddress] }]);
  });

  it.each([
    ['localhost', ['127.0.0.1']],
    ['metadata.google.internal', ['169.254.169.254']],
    ['intranet', ['10.1.2.3']],
    ['six.example', ['::1']],
    ['mapped.example', ['::ffff:10.0.0.1']],
    ['one-of-two.example', [publicAddress, '192.168.0.1']],
    ['one-of-two-six.example', [publicAddress, 'fd00::1']],
    ['nowhere.example', []],
  ])('connects to nothing for %s at %j', async (host, addresses) => {
    net.names.set(host, addresses);
    await expect(fetcher()(new URL(`https://${host}/client.json`))).rejects.toThrow(DocumentUnavailable);
    expect([net.resolved, net.connected]).toEqual([[host], []]);
  });

  it('keeps private addresses closed to hosts that are allowed', async () => {
    net.names.set('client.example', ['10.0.0.5']);
    await expect(fetcher({ allowedHosts: ['client.example'] })(url)).rejects.toThrow('not public');
    expect(net.connected).toEqual([]);
  });

  it('resolves nothing for hosts that are not allowed', async () => {
    await expect(fetcher({ allowedHosts: ['other.example'] })(url)).rejects.toThrow(DocumentUnavailable);
    expect(net.resolved).toEqual([]);
  });

  it('asks for the address once, so a name that changes its mind gets nowhere', async () => {
    const answers = [[publicAddress], ['127.0.0.1'], ['127.0.0.1']];
    const rebinding: typeof net.resolve = async (host) => {
      net.resolved.push(host);
      return answers.shift() ?? ['127.0.0.1'];
    };
    const fetch = createDocumentFetch({
      rules: createUrlRules(),
      network: { resolve: rebinding, connect: (target) => net.connect(target) },
      budget: createFetchBudget({ now: stoppedClock().now, caller: () => '' }),
    });
    await fetch(url);
    expect(net.resolved).toEqual(['client.example']);
    expect(net.connected.map(({ addresses }) => addresses)).toEqual([[publicAddress]]);
    await expect(fetch(url)).rejects.toThrow('not public');
    expect(net.connected).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect (%i)', async (status) => {
    net.serve = (_request, response) =>
      response.writeHead(status, { location: 'https://127.0.0.1/admin', 'content-type': 'application/json' }).end('{}');
    await expect(fetcher()(url)).rejects.toThrow(`answers ${status}`);
    expect(net.requested).toEqual([url.href]);
  });

  it.each([204, 206, 400, 403, 404, 500])('takes no answer but 200 (%i)', async (status) => {
    net.serve = (_request, response) => response.writeHead(status, { 'content-type': 'application/json' }).end();
    await expect(fetcher()(url)).rejects.toMatchObject({ withdrawn: status === 404 });
  });

  it.each(['text/html', 'text/json', 'application/javascript', 'application/jsonp', undefined])(
    'takes no document of type %s',
    async (type) => {
      net.serve = (_request, response) => response.writeHead(200, type ? { 'content-type': type } : {}).end('{}');
      await expect(fetcher()(url)).rejects.toThrow('JSON type');
    },
  );

  it.each(['application/json', 'application/cimd+json', 'application/jwk-set+json;charset=utf-8'])(
    'takes a document of type %s',
    async (type) => {
      net.serve = (_request, response) => response.writeHead(200, { 'content-type': type }).end('{}');
      await expect(fetcher()(url)).resolves.toMatchObject({ text: '{}' });
    },
  );

  it('takes 64 kB and no byte more, whether its length was told or not', async () => {
    const fetch = fetcher();
    const send = (bytes: number, told: boolean) => {
      net.serve = (_request, response) => {
        const length = told ? { 'content-length': bytes } : {};
        response.writeHead(200, { 'content-type': 'application/json', ...length });
        response.write(' '.repeat(bytes - 1));
        response.end('1');
      };
    };
    send(65_536, false);
    await expect(fetch(url)).resolves.toMatchObject({ text: expect.stringMatching(/1$/) });
    send(65_537, true);
    await expect(fetch(url)).rejects.toThrow('more than 65536 bytes');
    send(65_537, false);
    await expect(fetch(url)).rejects.toThrow('more than 65536 bytes');
  });

  it('stops reading a body without an end', async () => {
    const closed = Promise.withResolvers<void>();
    net.serve = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pour = (): void => {
        while (!response.destroyed && response.write(' '.repeat(16_384)));
      };
      response.on('drain', pour).on('close', () => closed.resolve());
      pour();
    };
    await expect(fetcher()(url)).rejects.toThrow('more than 65536 bytes');
    await closed.promise;
  });

  it('unpacks nothing: a small body that would become a large one is refused', async () => {
    net.serve = (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(10_000_000, 32)));
    await expect(fetcher()(url)).rejects.toThrow('compressed');
  });

  it('gives up on a host that never answers, one that dribbles, and a name server that is silent', async () => {
    const closed: Promise<void>[] = [];
    net.serve = (request, response) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      closed.push(promise);
      response.on('close', resolve);
      if (request.url === '/silent') return;
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    };
    const unresolved = createDocumentFetch({
      rules: createUrlRules(),
      network: { resolve: () => new Promise(() => {}), connect: (target) => net.connect(target) },
      budget: createFetchBudget({ now: stoppedClock().now, caller: () => '' }),
    });
    const fetch = fetcher();
    const tries = [fetch(new URL('/silent', url)), fetch(new URL('/dribble', url)), unresolved(url)];
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason)).toEqual(
      tries.map(() => expect.any(DocumentUnavailable)),
    );
    expect(closed).toHaveLength(2);
    await Promise.all(closed);
  });

  it('stops when the connection breaks half way', async () => {
    net.serve = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{', () => response.destroy());
    };
    await expect(fetcher()(url)).rejects.toThrow(DocumentUnavailable);
  });
});

describe('the connection', () => {
  it('goes to the address that was checked, whatever the name means', async () => {
    const certificate = selfSigned('localhost');
    const server = createServer(certificate, (_request, response) => response.end());
    const port = await listen(server);
    const connecting = internet.connect({ host: 'client.example', port, addresses: ['127.0.0.1'] });
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => connecting.on('error', resolve));
    // Whoever looked the name up would not have found it; the server there is met, and not believed.
    expect(error.code).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    await new Promise((resolve) => server.close(resolve));
  });

  it('is refused without a certificate for the name', async () => {
    // Trusted, but for other hosts.
    const socket = net.connect({ host: 'evil.example', port: 443, addresses: [publicAddress] });
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve));
    expect(error.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});

describe('the budget', () => {
  const take = (budget: ReturnType<typeof createFetchBudget>, host: string) => {
    try {
      budget.take(host)();
      return true;
    } catch (error) {
      if (error instanceof BudgetExceeded) return false;
      throw error;
    }
  };
  const count = (times: number, attempt: (index: number) => boolean) =>
    Array.from({ length: times }, (_value, index) => attempt(index)).filter(Boolean).length;

  it('lets one caller have 30 fetches a minute, by their whole network', () => {
    const clock = stoppedClock();
    let caller = '2001:4860::1';
    const budget = createFetchBudget({ now: clock.now, caller: () => caller });
    const of = (index: number) => {
      caller = `2001:4860:0:0:${index.toString(16)}::1`;
      return take(budget, `${index}.example`);
    };
    expect(count(50, of)).toBe(30);
    caller = '2001:4860:0:1::1';
    expect(take(budget, 'other.example')).toBe(true);
    clock.advance(60_000);
    expect(count(50, of)).toBe(30);
  });

  it('lets nobody send more than 60 fetches a minute to one host', () => {
    let caller = '';
    const budget = createFetchBudget({ now: stoppedClock().now, caller: () => caller });
    expect(
      count(200, (index) => {
        caller = `198.51.100.${index}`;
        return take(budget, 'victim.example');
      }),
    ).toBe(60);
    expect(take(budget, 'other.example')).toBe(true);
  });

  it('has at most 16 under way, and a place again when one ends', () => {
    let callers = 0;
    const budget = createFetchBudget({ now: stoppedClock().now, caller: () => `198.51.100.${(callers += 1)}` });
    const ends = Array.from({ length: 16 }, (_value, index) => budget.take(`${index}.example`));
    expect(take(budget, 'one-more.example')).toBe(false);
    ends[0]?.();
    expect(take(budget, 'one-more.example')).toBe(true);
  });

  it('costs nothing but a look where it is used up: no name is resolved', async () => {
    const fetch = fetcher();
    for (let index = 0; index < 30; index += 1) await fetch(url);
    net.resolved.length = 0;
    await expect(fetch(url)).rejects.toThrow(BudgetExceeded);
    expect(net.resolved).toEqual([]);
  });
});
