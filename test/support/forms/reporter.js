import { relative } from 'node:path';

/** Of a run in a form: a line after each file, and at the end all of them, since a run takes long. */
export default class Reporter {
  #root;
  #lines = [];

  constructor({ rootDir }) {
    this.#root = rootDir;
  }

  onTestResult(_test, result, { numTotalTestSuites }) {
    const { numPassingTests, numFailingTests, numPendingTests, testExecError, perfStats } = result;
    const failed = numFailingTests + (testExecError && numFailingTests === 0 ? 1 : 0);
    const seconds = Math.round((perfStats.end - perfStats.start) / 1000);
    const figures = `${numPassingTests} passed, ${failed} failed, ${numPendingTests} skipped, ${seconds} s`;
    const word = failed > 0 ? 'FAILED ' : numPendingTests > 0 ? 'SKIPPED' : 'ok     ';
    this.#lines.push(`${word} ${relative(this.#root, result.testFilePath)}: ${figures}`);
    process.stdout.write(`file ${this.#lines.length} of ${numTotalTestSuites}: ${this.#lines.at(-1)}\n`);
  }

  onRunComplete() {
    process.stdout.write(`\n${this.#lines.join('\n')}\n`);
  }
}
