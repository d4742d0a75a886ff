import { createHash } from 'node:crypto'
import { basename } from 'node:path'

/** @source docs/behaviour.md, "Spaces" */
const LONGEST_NAME = 64
const DIGEST_LENGTH = 10

/** What Vitest tells about the running test. */
export interface RunningTest {
  readonly name: string
  /** Unique in a run, and the same in every run: made from the project, the file's path in it and the test's place in the file. */
  readonly id: string
}

/**
 * Names the space of a test: readable through the test's name, unique through its id.
 *
 * The name is the same in every run, because a space derives its randomness from the seed
 * and its name: a storm that failed a test in CI fails it on a desk too.
 *
 * @param root folder that the tests run in; its name tells apart the packages of a
 *        repository that test against one sandbox
 */
export function spaceNameOf({ name, id }: RunningTest, root: string): string {
  const digest = createHash('sha256')
    .update(`${basename(root)}\n${id}`)
    .digest('hex')
    .slice(0, DIGEST_LENGTH)
  const words = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, LONGEST_NAME - DIGEST_LENGTH - 1)
    .replace(/^-+|-+$/g, '')
  return words === '' ? digest : `${words}.${digest}`
}
