import { describe, expect, it } from '@jest/globals';
import { newId } from '../../contract/core/index.ts';
import { Place, placesIn, QueryPlaces } from './places.ts';

const [acme, globex] = [newId('org'), newId('org')];
const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('placesIn', () => {
  it('is no wider than the warehouse, and leaves a quarter to others', () => {
    const wanted = { atOnce: 32, organization: 8 };
    expect(placesIn({}, wanted)).toEqual({ atOnce: 32, organization: 8 });
    expect(placesIn({ atOnce: { organization: 4 } }, wanted)).toEqual({ atOnce: 32, organization: 4 });
    expect(placesIn({ atOnce: { all: 9 } }, wanted)).toEqual({ atOnce: 9, organization: 6 });
    expect(placesIn({ atOnce: { all: 1 } }, wanted)).toEqual({ atOnce: 1, organization: 1 });
  });
});

describe('QueryPlaces', () => {
  it('answers at once where there is a place, and gives it to the next when what it was for has ended', async () => {
    const places = new QueryPlaces({ atOnce: 2, organization: 1 });
    const first = places.take(acme, 'ak_1', never);
    expect(first).toBeInstanceOf(Place);
    let second: Place | undefined;
    void Promise.resolve(places.take(acme, 'ak_1', never)).then((place) => (second = place));
    expect(places.take(globex, 'ak_1', never)).toBeInstanceOf(Place);
    const closing = Promise.withResolvers<void>();
    const place = await first;
    place.until(closing.promise);
    place.leave();
    await settle();
    expect(second).toBeUndefined();
    closing.resolve();
    await settle();
    expect(second).toBeInstanceOf(Place);
  });

  it('does not keep a place for a warehouse that never says that it has stopped', async () => {
    const places = new QueryPlaces({ atOnce: 1, organization: 1 });
    const place = await places.take(acme, 'ak_1', never);
    place.until(new Promise(() => {}));
    place.leave();
    expect(await places.take(globex, 'ak_1', never)).toBeInstanceOf(Place);
  });

  it('tells an organization that sends too much to wait, and others that all are busy', async () => {
    const places = new QueryPlaces({ atOnce: 2, organization: 1 });
    await places.take(acme, 'ak_1', never);
    const gone = new AbortController();
    const waits = Array.from({ length: 128 }, (_, index) =>
      Promise.resolve(places.take(acme, `ak_${index % 2}`, gone.signal)).catch(() => 'gone'),
    );
    await expect(places.take(acme, 'ak_1', never)).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfterSeconds: 2,
    });
    await places.take(globex, 'ak_1', never);
    const others = Array.from({ length: 7 }, () => newId('org')).flatMap((organization) =>
      Array.from({ length: 128 }, (_, index) =>
        Promise.resolve(places.take(organization, `ak_${index % 2}`, gone.signal)).catch(() => 'gone'),
      ),
    );
    await expect(places.take(newId('org'), 'ak_1', never)).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    gone.abort();
    expect(new Set(await Promise.all([...waits, ...others]))).toEqual(new Set(['gone']));
  });
});
