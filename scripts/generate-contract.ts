import { readFile } from 'node:fs/promises'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { createAjv } from '../src/contract/ajv.js'
import type { ContractData } from '../src/contract/contract-data.js'
import { toJsonSchema } from '../src/contract/json-schema.js'
import { parseDocument } from '../src/contract/parse-document.js'
import type { Schemas } from '../src/contract/validators.js'
import { toNormalForm } from '../src/openapi/normal-form.js'
import { readContract } from '../src/openapi/read-contract.js'
import { RESPONSE, readRecordPlaces } from '../src/openapi/record-rules.js'
import { openapiFile } from '../src/system/package-files.js'
import { writeGenerated } from './write-generated.js'

const NOTE = '// Generated from openapi.yaml by scripts/generate-contract.ts. Do not edit.\n'

/** Writes data, validators and types to `generated/`. */
export async function generateContract(): Promise<void> {
  const { document } = await toNormalForm(parseDocument(openapiFile, await readFile(openapiFile, 'utf8')))
  const { data, schemas: ofRequests } = readContract(document)
  const ofRecords = Array.from(readRecordPlaces(document, data)).flatMap(([name, places]) =>
    places.map(({ place }) => [`${name}_record`, () => toJsonSchema(place, RESPONSE)] as const),
  )
  const schemas = { ...ofRequests, ...Object.fromEntries(ofRecords) }
  await writeGenerated('contract', 'contract-data.ts', dataModule(data))
  await writeGenerated('contract', 'contract-data.browser.ts', dataModule(data, withoutWords))
  await writeGenerated('contract', 'validators.js', validatorsModule(schemas))
  await writeGenerated('contract', 'validators.d.ts', validatorsDeclaration(schemas))
  await writeGenerated('contract', 'types.ts', await typesModule())
}

function dataModule(data: ContractData, replacer?: (name: string, value: unknown) => unknown): string {
  return [
    NOTE,
    "import type { ContractData } from '../contract-data.js'\n",
    `export const contractData: ContractData = ${JSON.stringify(data, replacer, 2)}\n`,
  ].join('\n')
}

/** Descriptions stay in the document, which a page loads on demand. */
function withoutWords(name: string, value: unknown): unknown {
  return name === 'description' || name === 'summary' ? '' : value
}

/** The validators as a module that needs no ajv. */
function validatorsModule(schemas: Schemas): string {
  const ajv = createAjv({ schemas: withIds(schemas), code: { source: true, esm: true, lines: true } })
  const code = standaloneCode.default(ajv, Object.fromEntries(Object.keys(schemas).map((name) => [name, name])))
  if (/\brequire\(|\bimport\b/.test(code))
    throw new Error('The generated validators need ajv at run time. Bundle its helpers.')
  return `${NOTE}${code}`
}

function withIds(schemas: Schemas): Record<string, object> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, Object(schema())]))
}

function validatorsDeclaration(schemas: Schemas): string {
  const declarations = Object.keys(schemas).map((name) => `export declare const ${name}: Validator`)
  return [NOTE, "import type { Validator } from '../validator.js'\n", ...declarations, ''].join('\n')
}

const INT64_HOVER =
  'An int64: a `number` while that is exact (below 2^53), a `bigint` beyond, so that no digit is lost.'

/** The entities' types; int64 is ours, and an object without declared fields may have any. */
async function typesModule(): Promise<string> {
  const [{ default: openapiTypescript, astToString }, { default: ts }] = await Promise.all([
    import('openapi-typescript'),
    import('typescript'),
  ])
  const int64 = ts.factory.createTypeReferenceNode('Int64')
  const ast = await openapiTypescript(new URL('../openapi.yaml', import.meta.url), {
    immutable: true,
    emptyObjectsUnknown: true,
    transform: (schema) => (schema.format === 'int64' ? int64 : undefined),
  })
  return `${NOTE}\nimport type { Int64 } from '../int64.js'\n\n${astToString(ast).replaceAll('Format: int64', INT64_HOVER)}`
}
