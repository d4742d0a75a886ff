import type { VerbRoute } from '../src/control/verb-request.js'
import { readVerbTypes } from './verb-types.js'
import { writeGenerated } from './write-generated.js'

/**
 * Writes the description of the control plane, which takes seconds, the route of each verb, for clients that need no
 * verb, and the methods of programs.
 */
export async function generateControl(): Promise<void> {
  await writeRoutes()
  // Only after the contract has been generated, which the verbs import.
  const { describeControl } = await import('./describe-control.js')
  const { generateMethods } = await import('./generate-methods.js')
  const { writeDocumentTables } = await import('./document-tables.js')
  const types = readVerbTypes()
  await generateMethods(types)
  await writeDocumentTables()
  await writeGenerated(
    'control',
    'description.ts',
    `// Generated from the verbs by scripts/generate-control.ts. Do not edit.

export const description: object = ${JSON.stringify(describeControl(types))}
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
