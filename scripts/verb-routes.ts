import type { VerbRoute } from '../src/control/verb-request.js'

/** How each verb goes over the network, to be put into what pages import. */
export async function verbRoutes(): Promise<{ readonly VERB_ROUTES: string }> {
  // Not before the contract has been generated, which the verbs import.
  const { VERBS } = await import('../src/control/verbs.js')
  const routes = Object.entries<VerbRoute>(VERBS).map(([name, { method, path, body }]) => [
    name,
    { method, path, body },
  ])
  return { VERB_ROUTES: JSON.stringify(Object.fromEntries(routes)) }
}
