import {
  listProducts,
  getProduct,
  getStock,
  getCart,
  addItem,
  listRecommendations,
  getAds,
  convert,
  placeOrder,
} from './backend.ts';
import type { Random } from './random.ts';
import type { World } from './scenario.ts';
import { products, type Pod } from './shop.ts';
import { Frame } from './trace.ts';
import type { Failure, Traits } from './world.ts';

interface Flow {
  readonly method: 'GET' | 'POST';
  readonly route: string;
  readonly weight: number;
  readonly run: (frame: Frame) => void;
}

export const flows: readonly [Flow, ...Flow[]] = [
  { method: 'GET', route: '/', weight: 26, run: home },
  { method: 'GET', route: '/product/{id}', weight: 38, run: productPage },
  { method: 'GET', route: '/cart', weight: 12, run: cartPage },
  { method: 'POST', route: '/api/cart', weight: 11, run: addToCart },
  { method: 'POST', route: '/api/checkout', weight: 13, run: checkout },
];

/** One visitor's request to the shop, with all that follows from it. `at` in epoch microseconds. */
export function visit(world: World, at: number): void {
  const { random } = world;
  const mix = world.since(at / 1000)?.scenario.mix;
  const weighed = (flow: Flow) => [flow, flow.weight * (mix?.[`${flow.method} ${flow.route}`] ?? 1)] as const;
  const [first, ...rest] = flows;
  const flow = random.weighted([weighed(first), ...rest.map(weighed)]);
  const traits = visitor(random);
  const pod = world.pod('frontend', at / 1000);
  const product = random.pick(products)[0];
  const request = { 'http.request.method': flow.method, 'http.route': flow.route };
  Frame.serve(
    { world, traceId: random.hex(16), traits },
    {
      pod,
      name: `${flow.method} ${flow.route}`,
      at,
      attributes: {
        ...request,
        'url.path': flow.route.replace('{id}', product),
        'url.scheme': 'https',
        'server.address': 'shop.example',
        'client.address': `203.0.113.${random.integer(1, 254)}`,
        'user_agent.original': traits.userAgent,
        'network.protocol.version': '1.1',
        'app.user.id': traits.userId,
        'app.user.tier': traits.tier,
        'app.user.country': traits.country,
      },
    },
    {
      metric: 'http.server.request.duration',
      dimensions: request,
      status: (failure) => ({ 'http.response.status_code': failure === undefined ? 200 : (failure.http ?? 500) }),
      body: (frame) => {
        frame.work(2.5);
        flow.run(frame);
        frame.work(1.5);
        const status = frame.failure === undefined ? (frame.httpStatus ?? 200) : (frame.failure.http ?? 500);
        const message = `${flow.method} ${frame.attributes['url.path'] ?? ''} ${status}`;
        if (frame.failure === undefined) frame.log('INFO', message, request);
        else frame.log('ERROR', `${message}: ${frame.failure.message}`, request);
      },
    },
  );
}

const reports = { system: 'postgresql', namespace: 'reports', address: 'pg-reports.shop.svc', port: 5432 } as const;

/** One minute of a job: pieces of many seconds one after another, until the next would not end in time. */
export function runJob(world: World, pod: Pod, { from, to }: { readonly from: number; readonly to: number }): void {
  const { random } = world;
  const text = 'SELECT day, sum(amount) FROM report_lines GROUP BY day';
  for (let at = from + random.between(0, 2_000); at < to - 20_000;) {
    const ended = Frame.background(world, pod, 'job daily-report', Math.floor(at * 1000), (frame) => {
      frame.work(random.between(2_000, 6_000));
      frame.query(reports, { name: 'SELECT report_lines', text, ms: random.between(800, 3_000) });
      frame.log('INFO', `piece ${random.integer(1, 400)} of the daily report is done`);
    });
    at = ended / 1000;
  }
}

function visitor(random: Random): Traits {
  return {
    userId: `u-${random.integer(1000, 9999)}`,
    tier: random.named({ free: 50, plus: 28, enterprise: 22 }),
    card: random.named({ visa: 48, mastercard: 34, amex: 18 }),
    currency: random.named({ EUR: 55, USD: 25, CHF: 12, GBP: 8 }),
    country: random.named({ DE: 45, CH: 15, US: 25, GB: 15 }),
    userAgent: random.pick([
      'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 Version/19.1 Mobile/15E148 Safari/604.1',
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/143.0.0.0 Safari/537.36',
    ]),
  };
}

function broken(what: string, http = 502): Failure {
  return { type: 'UpstreamError', message: what, http };
}

function home(frame: Frame): void {
  if (!frame.rpc('product-catalog', 'ProductCatalogService/ListProducts', listProducts)) {
    return frame.fail(broken('the product list is not available'));
  }
  extras(frame);
  frame.rpc('currency', 'CurrencyService/Convert', convert);
}

function productPage(frame: Frame): void {
  if (frame.random.chance(frame.since?.scenario.notFound ?? 0.008)) {
    frame.httpStatus = 404;
    return;
  }
  if (!frame.rpc('product-catalog', 'ProductCatalogService/GetProduct', getProduct)) {
    return frame.fail(broken('the product is not available'));
  }
  if (!frame.rpc('inventory', 'InventoryService/GetStock', getStock)) {
    frame.log('WARN', 'stock is unknown, the page is shown without it');
  }
  if (frame.build.pricedPages) frame.rpc('currency', 'CurrencyService/Convert', convert);
  extras(frame);
}

function cartPage(frame: Frame): void {
  if (!frame.rpc('cart', 'CartService/GetCart', getCart)) return frame.fail(broken('the cart is not available'));
  frame.rpc('product-catalog', 'ProductCatalogService/GetProduct', getProduct);
  if (frame.build.stockedCarts) frame.rpc('inventory', 'InventoryService/GetStock', getStock);
  frame.rpc('currency', 'CurrencyService/Convert', convert);
}

function addToCart(frame: Frame): void {
  frame.rpc('product-catalog', 'ProductCatalogService/GetProduct', getProduct);
  if (!frame.rpc('cart', 'CartService/AddItem', addItem)) frame.fail(broken('the item could not be added'));
}

function checkout(frame: Frame): void {
  const { userId, tier, country } = frame.traits;
  const who = { 'app.user.id': userId, 'app.user.tier': tier, 'app.user.country': country };
  if (!frame.rpc('checkout', 'CheckoutService/PlaceOrder', placeOrder, who)) {
    frame.fail(broken('the order could not be placed', 500));
  }
}

/** What the page can do without. */
function extras(frame: Frame): void {
  if (!frame.rpc('recommendation', 'RecommendationService/ListRecommendations', listRecommendations)) {
    frame.log('WARN', 'recommendations left out');
  }
  if (!frame.rpc('ad', 'AdService/GetAds', getAds)) frame.log('WARN', 'ads left out');
}
