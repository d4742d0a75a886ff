import { readFileSync } from 'node:fs'

interface Suite {
  readonly suites?: readonly Suite[]
  readonly specs: readonly Spec[]
}

/** A test as it is written, with the runs that it had. */
interface Spec {
  readonly title: string
  readonly ok: boolean
  readonly tests: readonly { readonly results: readonly { readonly parallelIndex: number }[] }[]
}

/** What Playwright’s reporter `json` has written. */
export function specsIn(outcome: string): readonly Spec[] {
  return specsOf(JSON.parse(readFileSync(outcome, 'utf8')))
}

function specsOf({ suites = [], specs = [] }: Suite): readonly Spec[] {
  return [...specs, ...suites.flatMap(specsOf)]
}
