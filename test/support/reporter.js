import { writeFileSync } from 'node:fs';

/**
 * Ends a run with one plain line, and fails it when REQUIRE_SERVICES is set and anything was skipped. Where FAILED_FILES names
 * a file, that holds the failed files afterwards, one a line, and nothing where the run fails for another reason.
 */
export default class Reporter {
  #error;

  onRunComplete(_contexts, results) {
    const skipped = results.numPendingTests + results.numTodoTests;
    for (const suite of results.testResults) {
      for (const test of suite.testResults) {
        if (test.status === 'pending') process.stderr.write(`not run: ${test.fullName}\n`);
      }
    }
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
    if (process.env.REQUIRE_SERVICES === '1' && skipped > 0) {
      this.#error = new Error(`${skipped} required tests were not run`);
    }
    if (process.env.FAILED_FILES !== undefined && this.#error === undefined) {
      const files = results.testResults
        .filter((suite) => suite.numFailingTests > 0 || suite.testExecError)
        .map(({ testFilePath }) => testFilePath);
      writeFileSync(process.env.FAILED_FILES, files.map((file) => `${file}\n`).join(''));
    }
  }

  getLastError() {
    return this.#error;
  }
}
