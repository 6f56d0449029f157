/**
 * How long after an outage's end requests may still fail, and a gateway may say that it is not ready: docs/high-availability.md,
 * Several gateways.
 */
export const recoverySeconds = 5;
/** The same where the machine has much else to do. */
export const busyRecoverySeconds = 30;

/**
 * Whether a run is held to what depends on the speed of the machine: how soon all is well again, and what grows. A short run is
 * for any machine, however busy; there an outage ends when each gateway has said that it is ready.
 */
export const judgesSpeed = (seconds: number): boolean => seconds >= 300;
