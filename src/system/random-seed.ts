/** Seeds of up to ten digits: people type them. */
const SEED_BOUND = 2 ** 32

/** A seed where none is given: the only place that draws from the machine. */
export function randomSeed(): number {
  return Math.floor(Math.random() * SEED_BOUND)
}
