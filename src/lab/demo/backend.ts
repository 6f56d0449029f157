import { products } from './shop.ts';
import type { Database, Frame } from './trace.ts';

// What each service behind the shop's pages does when it is called.

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

export function listProducts(frame: Frame): void {
  frame.work(1.2);
  const text = 'SELECT id, name, price FROM products WHERE active ORDER BY rank LIMIT $1';
  if (!frame.query(catalogDatabase, { name: 'SELECT products', text, ms: 2.4 })) return;
  frame.attributes['app.products.count'] = products.length;
}

export function getProduct(frame: Frame): void {
  frame.work(0.8);
  const [id, name] = frame.random.pick(products);
  frame.attributes['app.product.id'] = id;
  const text = 'SELECT id, name, description, price FROM products WHERE id = $1';
  if (!frame.query(catalogDatabase, { name: 'SELECT products', text, ms: 1.1 })) return;
  frame.attributes['app.product.name'] = name;
}

export function getStock(frame: Frame): void {
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

export function getCart(frame: Frame): void {
  frame.work(0.6);
  frame.query(cartStore, { name: 'HGETALL', text: 'HGETALL cart:?', ms: 0.5 });
  frame.attributes['app.cart.items'] = frame.random.integer(1, 6);
}

export function addItem(frame: Frame): void {
  frame.work(0.7);
  frame.query(cartStore, { name: 'HSET', text: 'HSET cart:? ? ?', ms: 0.6 });
  frame.log('INFO', `item added for user ${frame.traits.userId}`, { 'app.user.id': frame.traits.userId });
}

export function listRecommendations(frame: Frame): void {
  frame.work(3.2);
  const answered = frame.query(recommendationCache, { name: 'GET', text: 'GET rec:?', ms: 0.5 });
  const hit = answered && frame.random.chance(frame.since?.scenario.cacheHits ?? 0.93);
  frame.attributes['cache.hit'] = hit;
  frame.count('shop.cache.requests', {
    'cache.name': 'recommendation',
    result: answered ? (hit ? 'hit' : 'miss') : 'error',
  });
  frame.log('INFO', `ranked products for a ${frame.traits.tier} visitor from ${frame.traits.country}`);
  if (hit) return;
  // An unreachable cache fails no request: the list is recomputed from the catalogue, which is slower.
  frame.failure = undefined;
  if (!answered) frame.log('ERROR', 'cache read failed: connection refused by redis-recommendation.shop.svc:6379');
  frame.rpc('product-catalog', 'ProductCatalogService/ListProducts', listProducts);
  frame.work(28);
  if (answered) frame.query(recommendationCache, { name: 'SET', text: 'SET rec:? ? EX 300', ms: 0.6 });
}

export function getAds(frame: Frame): void {
  frame.work(1.8);
  frame.attributes['app.ads.category'] = frame.random.pick(['camping', 'climbing', 'clothing']);
}

export function convert(frame: Frame): void {
  frame.work(0.25);
  frame.attributes['app.currency.from'] = 'EUR';
  frame.attributes['app.currency.to'] = frame.traits.currency;
}

export function placeOrder(frame: Frame): void {
  const { traits, random } = frame;
  frame.event('feature_flag.evaluation', {
    'feature_flag.key': 'express-checkout',
    'feature_flag.provider.name': 'flagd',
    'feature_flag.result.variant': frame.since?.scenario.expressCheckoutFor === traits.tier ? 'on' : 'off',
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
  const usualDelay = random.lognormal(40, 0.5);
  const { scenario, minutes = 0 } = frame.since ?? {};
  frame.publish('orders', 'accounting', usualDelay + (scenario?.queueDelay?.(minutes) ?? 0), book);
  frame.log('INFO', `order ${order} placed`, { 'app.order.id': order, 'app.order.amount': amount });
}

function quote(frame: Frame): void {
  frame.work(4.5);
  frame.log('INFO', `quoted the way to ${frame.traits.country}`);
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
