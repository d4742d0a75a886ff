import { stringifyJson } from '../src/contract/json.js'
import { parseDocument } from '../src/contract/parse-document.js'
import { packageText, packageVersion } from '../src/system/package-files.js'
import { writeGenerated } from './write-generated.js'

const NOTE = "// Generated from the package's own files by scripts/generate-embedded.ts. Do not edit.\n"

/** The package's own files as modules, for browsers. */
export async function generateEmbedded(): Promise<void> {
  await writeGenerated('system', 'version.ts', `${NOTE}\nexport const version = ${JSON.stringify(packageVersion)}\n`)
  const yaml = packageText('openapi.yaml')
  const json = stringifyJson(await parseDocument('openapi.yaml', yaml), 2)
  await writeGenerated(
    'contract',
    'contract-text.ts',
    `${NOTE}
export const yaml = ${JSON.stringify(yaml)}

export const json = ${JSON.stringify(json)}
`,
  )
}
