import type { Contract } from '../contract/contract.js'
import { quote } from '../contract/excerpt.js'
import { stringifyJson } from '../contract/json.js'
import { SpecError } from '../contract/spec-error.js'
import { readContractText } from '../openapi/read-text.js'

// The build adds what only contracts of one's own need of the rest (scripts/build-browser.ts).

const NAME = 'spec'

/** @param spec an OpenAPI document, or its text @throws SpecError naming the place in it */
export async function readOwnContract(spec: object | string): Promise<Contract> {
  if (typeof spec !== 'string') return readContractText(stringifyJson(spec) ?? '', { name: NAME })
  if (!/[\n{]/.test(spec))
    throw new SpecError(
      `spec ${quote(spec)} is a name, but a page has no files. Import the document, or fetch its text`,
    )
  // A page with JSON does not load the YAML library, which is half as large as the sandbox.
  const yaml = /^\s*\{/.test(spec) ? {} : { yaml: await import('../contract/yaml.js') }
  return readContractText(spec, { name: NAME, ...yaml })
}
