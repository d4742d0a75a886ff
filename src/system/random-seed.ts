/** At most ten digits, because people type them. */
const SEED_BOUND = 2 ** 32

/** The only use of the machine's randomness. */
export function randomSeed(): number {
  return Math.floor(Math.random() * SEED_BOUND)
}
