import type { Random } from './random.ts';
import { products } from './shop.ts';
import { Frame, type Database } from './trace.ts';
import type { Failure, Traits, World } from './world.ts';

const catalogDatabase = postgres('catalog', 'pg-catalog.shop.svc');
const stockDatabase = postgres('inventory', 'pg-inventory.shop.svc');
const ledgerDatabase = postgres('ledger', 'pg-ledger.shop.svc');
const cartStore = redis('0', 'redis-cart.shop.svc');
const recommendationCache = redis('1', 'redis-recommendation.shop.svc');

function postgres(namespace: string, address: string): Database {
  return { system: 'postgresql', namespace, address, port: 5432 };
}

function redis(namespace: string, address: string): Database {
  return { system: 'redis', namespace, address, port: 6379 };
}

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
  const [first, ...rest] = flows;
  const flow = random.weighted([[first, first.weight], ...rest.map((each) => [each, each.weight] as const)]);
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

function visitor(random: Random): Traits {
  return {
    userId: `u-${random.integer(1000, 9999)}`,
    tier: random.weighted([
      ['free', 50],
      ['plus', 28],
      ['enterprise', 22],
    ]),
    card: random.weighted([
      ['visa', 48],
      ['mastercard', 34],
      ['amex', 18],
    ]),
    currency: random.weighted([
      ['EUR', 55],
      ['USD', 25],
      ['CHF', 12],
      ['GBP', 8],
    ]),
    country: random.weighted([
      ['DE', 45],
      ['CH', 15],
      ['US', 25],
      ['GB', 15],
    ]),
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
  if (frame.random.chance(0.008)) {
    frame.httpStatus = 404;
    return;
  }
  if (!frame.rpc('product-catalog', 'ProductCatalogService/GetProduct', getProduct)) {
    return frame.fail(broken('the product is not available'));
  }
  if (!frame.rpc('inventory', 'InventoryService/GetStock', getStock)) {
    frame.log('WARN', 'stock is unknown, the page is shown without it');
  }
  extras(frame);
}

function cartPage(frame: Frame): void {
  if (!frame.rpc('cart', 'CartService/GetCart', getCart)) return frame.fail(broken('the cart is not available'));
  frame.rpc('product-catalog', 'ProductCatalogService/GetProduct', getProduct);
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

function listProducts(frame: Frame): void {
  frame.work(1.2);
  const text = 'SELECT id, name, price FROM products WHERE active ORDER BY rank LIMIT $1';
  if (!frame.query(catalogDatabase, { name: 'SELECT products', text, ms: 2.4 })) return;
  frame.attributes['app.products.count'] = products.length;
}

function getProduct(frame: Frame): void {
  frame.work(0.8);
  const [id, name] = frame.random.pick(products);
  frame.attributes['app.product.id'] = id;
  const text = 'SELECT id, name, description, price FROM products WHERE id = $1';
  if (!frame.query(catalogDatabase, { name: 'SELECT products', text, ms: 1.1 })) return;
  frame.attributes['app.product.name'] = name;
}

function getStock(frame: Frame): void {
  frame.work(1.4);
  const text = 'SELECT sum(quantity - reserved) FROM stock WHERE product_id = $1 AND warehouse_region = $2';
  if (!frame.query(stockDatabase, { name: 'SELECT stock', text, ms: 2.8 })) {
    frame.log('ERROR', 'reading the stock failed: canceling statement due to statement timeout');
  }
}

function reserveStock(frame: Frame): void {
  frame.work(1.6);
  const read = 'SELECT sum(quantity - reserved) FROM stock WHERE product_id = $1 AND warehouse_region = $2';
  const write = 'UPDATE stock SET reserved = reserved + $1 WHERE product_id = $2';
  if (!frame.query(stockDatabase, { name: 'SELECT stock', text: read, ms: 2.8 })) {
    return frame.log('ERROR', 'reading the stock failed: canceling statement due to statement timeout');
  }
  frame.query(stockDatabase, { name: 'UPDATE stock', text: write, ms: 3.4 });
}

function getCart(frame: Frame): void {
  frame.work(0.6);
  frame.query(cartStore, { name: 'HGETALL', text: 'HGETALL cart:?', ms: 0.5 });
  frame.attributes['app.cart.items'] = frame.random.integer(1, 6);
}

function addItem(frame: Frame): void {
  frame.work(0.7);
  frame.query(cartStore, { name: 'HSET', text: 'HSET cart:? ? ?', ms: 0.6 });
  frame.log('INFO', `item added for user ${frame.traits.userId}`, { 'app.user.id': frame.traits.userId });
}

function listRecommendations(frame: Frame): void {
  frame.work(3.2);
  const answered = frame.query(recommendationCache, { name: 'GET', text: 'GET rec:?', ms: 0.5 });
  const hit = answered && frame.random.chance(0.93);
  frame.attributes['cache.hit'] = hit;
  frame.count('shop.cache.requests', {
    'cache.name': 'recommendation',
    result: answered ? (hit ? 'hit' : 'miss') : 'error',
  });
  if (hit) return;
  // A cache that is away is not a failed request: the list is computed anew from the catalogue, which costs.
  frame.failure = undefined;
  if (!answered) frame.log('ERROR', 'cache read failed: connection refused by redis-recommendation.shop.svc:6379');
  frame.rpc('product-catalog', 'ProductCatalogService/ListProducts', listProducts);
  frame.work(28);
  if (answered) frame.query(recommendationCache, { name: 'SET', text: 'SET rec:? ? EX 300', ms: 0.6 });
}

function getAds(frame: Frame): void {
  frame.work(1.8);
  frame.attributes['app.ads.category'] = frame.random.pick(['camping', 'climbing', 'clothing']);
}

function convert(frame: Frame): void {
  frame.work(0.25);
  frame.attributes['app.currency.from'] = 'EUR';
  frame.attributes['app.currency.to'] = frame.traits.currency;
}

function placeOrder(frame: Frame): void {
  const { traits, random } = frame;
  frame.event('feature_flag.evaluation', {
    'feature_flag.key': 'express-checkout',
    'feature_flag.provider.name': 'flagd',
    'feature_flag.result.variant': frame.expressCheckout(),
  });
  frame.work(2);
  const step = (ok: boolean, message: string): boolean => {
    if (!ok) {
      frame.log('ERROR', `placing the order failed: ${message}`, { 'app.user.id': traits.userId });
      frame.fail({ type: 'OrderError', message });
    }
    return ok;
  };
  if (!step(frame.rpc('cart', 'CartService/GetCart', getCart), 'could not read the cart')) return;
  if (!step(frame.rpc('product-catalog', 'ProductCatalogService/GetProduct', getProduct), 'could not read a product'))
    return;
  if (!step(frame.rpc('inventory', 'InventoryService/Reserve', reserveStock), 'could not reserve stock')) return;
  frame.rpc('currency', 'CurrencyService/Convert', convert);
  if (!step(frame.http('shipping', 'POST', '/get-quote', quote), 'could not get a shipping quote')) return;
  const amount = Math.round(random.lognormal(95, 0.7) * 100) / 100;
  const charged = frame.rpc('payment', 'PaymentService/Charge', charge, {
    'app.payment.card_type': traits.card,
    'app.payment.amount': amount,
    'app.user.tier': traits.tier,
  });
  if (!step(charged, 'could not charge the card')) return;
  if (!step(frame.http('shipping', 'POST', '/ship-order', ship), 'could not ship the order')) return;
  const order = random.hex(6);
  if (!frame.http('email', 'POST', '/send-order-confirmation', confirm)) {
    frame.log('WARN', `confirmation of order ${order} was not sent`, { 'app.order.id': order });
  }
  frame.attributes['app.order.id'] = order;
  frame.attributes['app.order.amount'] = amount;
  frame.count('shop.orders.placed', { 'app.user.tier': traits.tier });
  frame.count('shop.orders.amount', {}, amount);
  frame.publish('orders', 'accounting', random.lognormal(40, 0.5) + frame.queueDelay(), book);
  frame.log('INFO', `order ${order} placed`, { 'app.order.id': order, 'app.order.amount': amount });
}

function quote(frame: Frame): void {
  frame.work(4.5);
}

function ship(frame: Frame): void {
  frame.work(6);
  frame.attributes['app.shipping.tracking_id'] = frame.random.hex(6);
}

function charge(frame: Frame): void {
  frame.work(2.4);
  if (!frame.external('api.cardgate.example', 'POST', '/v1/charges', 82)) {
    return frame.log('ERROR', 'charge failed: the card gateway did not answer', {
      'server.address': 'api.cardgate.example',
    });
  }
  frame.log('INFO', `charged a ${frame.traits.card} card`, { 'app.payment.card_type': frame.traits.card });
}

function confirm(frame: Frame): void {
  frame.work(7);
  if (!frame.external('api.mailgate.example', 'POST', '/v3/messages', 34)) return;
  frame.log('INFO', 'order confirmation sent');
}

function book(frame: Frame): void {
  frame.work(3);
  const text = 'INSERT INTO entries (order_id, amount, currency) VALUES ($1, $2, $3)';
  frame.query(ledgerDatabase, { name: 'INSERT entries', text, ms: 3.6 });
}
