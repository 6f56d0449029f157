import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readable } from '../support/person.ts';
import { openWorkplace, type Workplace } from './support/workplace.ts';

const path = '/telemetry';

describe('the page of what came in', () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await openWorkplace();
  });
  afterAll(() => place.close());

  it('says when telemetry last came in, and what was refused', async () => {
    const member = await place.enter('member', 'mia@acme.example');
    const { text } = await member.browser.get(path);
    expect(readable(text)).toContain('Telemetry last came in');
    expect(readable(text)).toContain('What came in could be queried 1.2 s later.');
    expect(text).toContain('<code>cart</code>');
    expect(text).toContain('The body is not gzip.');
    expect(text).toContain('sdk&#60;1&#62;');
    expect(text).toContain('href="/integrations/telemetry"');
  });

  it('says it where the warehouse does not answer, and shows the rest', async () => {
    const member = await place.enter('member', 'max@acme.example');
    const { status, text } = await member.browser.get(path, { 'sec-fetch-site': 'same-origin' });
    expect(status).toBe(200);
    expect(readable(text)).toContain('There is no warehouse here.');
    expect(text).toContain('The body is not gzip.');
  });
});
