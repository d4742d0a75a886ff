import { writeGenerated } from './write-generated.js'

/** Writes the description of the control plane. It takes seconds, so the sandbox does not do it. */
export async function generateControl(): Promise<void> {
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
