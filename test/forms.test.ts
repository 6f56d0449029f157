import { beforeAll, describe, expect, it } from '@jest/globals';
import { apart, without } from './support/forms/apart.ts';
import { filesOf, testFiles } from './support/forms/files.ts';
import { forms } from './support/forms/form.ts';

describe('the forms in which gateways are tested', () => {
  let files: Awaited<ReturnType<typeof testFiles>>;
  beforeAll(async () => {
    files = await testFiles();
  });

  it('leave no file in test/ without a word: it is run in them, or it is said why not', () => {
    const neither = [...files].flatMap(([file, uses]) =>
      file.startsWith('test/') && uses === 'neither' ? [file] : [],
    );
    expect(neither.filter((file) => !(file in without))).toEqual([]);
    expect(Object.keys(without).filter((file) => files.has(file) && !neither.includes(file))).toEqual([]);
  });

  it('run every file that starts gateways or opens stores, but those that are listed', async () => {
    for (const form of forms) {
      const listed = apart.filter(({ forms: of }) => of.includes(form));
      const run = await filesOf(form);
      const expected = [...files].flatMap(([file, uses]) =>
        uses === 'gateways' || (uses === 'stores' && form !== 'workers') ? [file] : [],
      );
      expect([...run, ...listed.map(({ file }) => file)].toSorted()).toEqual(expected.toSorted());
      expect(run).toContain('test/isolation.test.ts');
    }
    expect(await filesOf('mysql')).toContain('test/issuer/token-endpoint.test.ts');
    expect(await filesOf('workers')).not.toContain('test/issuer/token-endpoint.test.ts');
  });
});
