/** The limit of a test, in ms. It is for tests that hang: a busy machine may take minutes. */
export const PATIENCE_MS = 600_000

/** The limit of a wait within a test, in ms, so that its failure names the wait. */
export const STEP_PATIENCE_MS = PATIENCE_MS / 4
