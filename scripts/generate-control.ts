import type { VerbRoute } from '../src/control/verb-request.js'
import { writeGenerated } from './write-generated.js'

/**
 * Writes the description of the control plane, which takes seconds, and the route of each verb, for clients that need
 * no verb.
 */
export async function generateControl(): Promise<void> {
  await writeRoutes()
  // Only after the contract has been generated, which the verbs import.
  const { describeControl } = await import('./describe-control.js')
  await writeGenerated(
    'control',
    'description.ts',
    `// Generated from the verbs by scripts/generate-control.ts. Do not edit.

export const description: object = ${JSON.stringify(await describeControl())}
`,
  )
}

async function writeRoutes(): Promise<void> {
  // Only after the contract has been generated, which the verbs import.
  const { VERBS } = await import('../src/control/verbs.js')
  const routes = Object.entries<VerbRoute>(VERBS).map(([name, { method, path, body }]) => [
    name,
    { method, path, body },
  ])
  await writeGenerated(
    'control',
    'verb-routes.ts',
    `// Generated from the verbs by scripts/generate-control.ts. Do not edit.
import type { VerbName } from '../verb-map.js'
import type { VerbRoute } from '../verb-request.js'

export const verbRoutes: Readonly<Record<VerbName, VerbRoute>> = ${JSON.stringify(Object.fromEntries(routes))}
`,
  )
}
