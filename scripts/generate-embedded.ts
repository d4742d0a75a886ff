import { stringifyJson } from '../src/contract/json.js'
import { parseDocument } from '../src/contract/parse-document.js'
import { packagedScenarios, packageText, packageVersion } from '../src/system/package-files.js'
import { loadYaml } from '../src/system/yaml.js'
import { writeGenerated } from './write-generated.js'

const NOTE = "// Generated from the package's own files by scripts/generate-embedded.ts. Do not edit.\n"

/** Writes the package's own files as modules, for where there are none: in a browser. */
export async function generateEmbedded(): Promise<void> {
  const scenarios = packagedScenarios().map((name) => `fixtures/scenarios/${name}.yaml`)
  const files = Object.fromEntries(scenarios.map((file) => [file, JSON.stringify(loadYaml().parse(packageText(file)))]))
  await writeGenerated(
    'system',
    'embedded.ts',
    `${NOTE}
export const version = ${JSON.stringify(packageVersion)}

export const files: Readonly<Record<string, string>> = ${JSON.stringify(files, undefined, 2)}
`,
  )
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
