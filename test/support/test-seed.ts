/** The seed of all random tests; `test/projects.ts` sets it. */
export const TEST_SEED = process.env.TEST_SEED ?? 'no seed'

/** A fifth of the runs in `npm test`, all of them in `npm run test:all` and in the gate. */
export function runs(count: number): number {
  return process.env.THOROUGH === undefined ? Math.ceil(count / 5) : count
}
