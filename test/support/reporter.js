/** Ends a run with one plain line, and fails it when REQUIRE_SERVICES is set and anything was skipped. */
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
  }

  getLastError() {
    return this.#error;
  }
}
