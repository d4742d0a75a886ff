import type { VerbRoute } from '../src/control/verb-request.js'

/** The route of each verb, for pages. */
export async function verbRoutes(): Promise<{ readonly VERB_ROUTES: string }> {
  // Only after the contract has been generated, which the verbs import.
  const { VERBS } = await import('../src/control/verbs.js')
  const routes = Object.entries<VerbRoute>(VERBS).map(([name, { method, path, body }]) => [
    name,
    { method, path, body },
  ])
  return { VERB_ROUTES: JSON.stringify(Object.fromEntries(routes)) }
}
