import { describe, expect, it } from '@jest/globals';
import { newId, type OrganizationId } from '../../contract/core/index.ts';
import { tenancySchema } from '../../contract/telemetry/index.ts';
import { createTenancy } from './tenancy.ts';

const acme = newId('org');
const globex = newId('org');
const names = new Map([
  [acme, 'Acme'],
  [globex, 'Globex, Inc.'],
]);
const directory = {
  findOrganization: async (idOrName: string) => {
    const found = [...names].find(([id, name]) => id === idOrName || name === idOrName);
    return found && { id: found[0], name: found[1], createdAt: new Date(0) };
  },
};
const open = (config: object) => createTenancy(directory).open(tenancySchema.parse(config));
const column = { mode: 'column', column: 'tenant_id' };
const tenant = async (config: object, id: OrganizationId) => {
  try {
    return await open(config).tenantOf(id);
  } catch (error) {
    return error;
  }
};
const denied = (why: string) => ({ code: 'forbidden', operatorMessage: expect.stringContaining(why) });

describe('a tenant', () => {
  it("is the organization's name, or its id", async () => {
    expect(await tenant({ boundary: column }, globex)).toBe('Globex, Inc.');
    expect(await tenant({ boundary: column, value: 'id' }, acme)).toBe(acme);
  });

  it('is what the table says, by name in any case or by id', async () => {
    const organizations = { acme: 't1', [globex]: 't2' };
    expect(await tenant({ boundary: column, organizations }, acme)).toBe('t1');
    expect(await tenant({ boundary: column, organizations }, globex)).toBe('t2');
  });

  it('is nothing for an organization that the table does not list', async () => {
    expect(await tenant({ boundary: column, organizations: { acme: 't1' } }, globex)).toMatchObject(
      denied('does not list'),
    );
    expect(await tenant({ boundary: column, organizations: {} }, acme)).toMatchObject(denied('does not list'));
  });

  it('is nothing for an organization that is not there', async () => {
    expect(await tenant({ boundary: column }, newId('org'))).toMatchObject(denied('no such organization'));
  });

  it('is nothing for a name that reads like the id of another', async () => {
    const other = newId('org');
    names.set(other, acme);
    expect(await tenant({ boundary: column, organizations: { [acme]: 't1' } }, other)).toMatchObject(
      denied('does not list'),
    );
    names.delete(other);
  });

  it('is found by names that are one for the directory, and by no others', async () => {
    const lunate = newId('org');
    const small = newId('org');
    // Two names for the directory; in lower case alone they would be one.
    names.set(lunate, '\u03f9ast').set(small, '\u03f2ast');
    const config = { boundary: column, organizations: { '\u03f9AST': 't1' } };
    expect(await tenant(config, lunate)).toBe('t1');
    expect(await tenant(config, small)).toMatchObject(denied('does not list'));
    const alone = { boundary: { mode: 'none', organization: '\u03f9ast' } };
    expect(await tenant(alone, small)).toMatchObject(denied('another one'));
    names.delete(lunate);
    names.delete(small);
  });

  it('is said once: two entries for one organization are a mistake', () => {
    expect(() => open({ boundary: column, organizations: { Acme: 't1', ACME: 't2' } })).toThrow('same organization');
  });

  it('is nothing for a name like a key of every object', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const odd = newId('org');
      names.set(odd, name);
      expect(await tenant({ boundary: column, organizations: { acme: 't1' } }, odd)).toMatchObject(
        denied('does not list'),
      );
      names.delete(odd);
    }
  });

  it('is not the one organization for another that is named like its id', async () => {
    const shouting = newId('org');
    names.set(shouting, acme.toUpperCase());
    expect(await tenant({ boundary: { mode: 'none', organization: acme } }, shouting)).toMatchObject(
      denied('another one'),
    );
    expect(await tenant({ boundary: { mode: 'none', organization: acme } }, acme)).toBe(acme);
    names.delete(shouting);
  });

  it('is the one organization of a warehouse without tenants', async () => {
    const boundary = { mode: 'none', organization: 'acme' };
    expect(await tenant({ boundary }, acme)).toBe('acme');
    expect(await tenant({ boundary }, globex)).toMatchObject(denied('another one'));
  });

  it.each<[object, string, boolean]>([
    [{ mode: 'database', template: 'otel_{tenant}' }, 'acme-1', true],
    [{ mode: 'database', template: 'otel_{tenant}' }, 'a.b', false],
    [{ mode: 'database', template: 'otel_{tenant}' }, 'a--b', false],
    [{ mode: 'table_template', template: '{tenant}_spans' }, 'a`b', false],
    [{ mode: 'schema', template: '{tenant}' }, 'x'.repeat(63), true],
    [{ mode: 'schema', template: '{tenant}' }, 'x'.repeat(64), false],
    // PostgreSQL would cut the name, and two tenants would be one.
    [{ mode: 'schema', template: 'otel_{tenant}' }, 'x'.repeat(59), false],
    [{ mode: 'database', template: '{tenant}_{tenant}' }, 'x'.repeat(32), false],
    [{ mode: 'table_template', template: '{tenant}_spans' }, 'x'.repeat(65), false],
    [{ ...column, type: 'int' }, '42', true],
    [{ ...column, type: 'int' }, '-7', true],
    [{ ...column, type: 'int' }, '42 OR 1=1', false],
    // Another way to write 42 or 0, which would be another organization's.
    [{ ...column, type: 'int' }, '042', false],
    [{ ...column, type: 'int' }, '-0', false],
    [{ ...column, type: 'uuid' }, '123e4567-e89b-12d3-a456-426614174000', true],
    [{ ...column, type: 'uuid' }, 'acme', false],
    [column, "o'brien", true],
    [column, 'a\u0000b', false],
    [column, 'x'.repeat(257), false],
  ])('of %j may be %j: %s', async (boundary, value, fits) => {
    const found = await tenant({ boundary, organizations: { acme: value } }, acme);
    if (fits) expect(found).toBe(value);
    else expect(found).toMatchObject(denied('is not'));
  });

  it('is never shared by two organizations', () => {
    expect(() => open({ boundary: column, organizations: { acme: 'T', globex: 't' } })).toThrow('same tenant');
  });

  it('is told by an expression that ends where it ends', () => {
    for (const expression of ['tenant --', 'a) OR (b', "a = 'x"]) {
      expect(() => open({ boundary: { mode: 'expression', expression } })).toThrow(
        'telemetry.tenancy.boundary.expression',
      );
    }
    open({ boundary: { mode: 'expression', expression: "lower(attributes['tenant--id'])" } });
  });

  it('says nothing of the warehouse to the caller', async () => {
    const error = await tenant({ boundary: column, organizations: { acme: 'secret' } }, globex);
    expect(error).toMatchObject({ message: expect.not.stringMatching(/secret|acme|tenancy/i) });
  });
});
