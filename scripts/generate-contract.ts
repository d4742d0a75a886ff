import { readFile } from 'node:fs/promises'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { createAjv } from '../src/contract/ajv.js'
import type { ContractData } from '../src/contract/contract-data.js'
import type { Node } from '../src/contract/document.js'
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
  await writeGenerated('contract', 'entities.ts', entitiesModule(document, data))
  await writeGenerated('contract', 'examples.ts', examplesModule(data))
}

function dataModule(data: ContractData, replacer?: (name: string, value: unknown) => unknown): string {
  return [
    NOTE,
    "import type { ContractData } from '../contract-data.js'\n",
    `export const contractData: ContractData = ${JSON.stringify(data, replacer, 2)}\n`,
  ].join('\n')
}

const refOf = (schema: unknown): string => String(Object(schema).$ref ?? '').replace(/^.*\//, '')

/** The schemas by name, and the records of each resource. */
function entitiesModule({ components, paths }: Node, { resources }: ContractData): string {
  const schemas = Object(Object(components).schemas)
  const nameOf = (body: unknown) => {
    const schema = Object(Object(Object(Object(body).content)['application/json']).schema)
    const [named, items] = [schema, schemas[refOf(schema)]?.items].map(refOf)
    return items || named
  }
  const rows = resources.map(({ name, path }) => {
    const { get, post } = Object(Object(paths)[path])
    const record = nameOf(Object(get?.responses)['200'])
    return { name, record, input: nameOf(post?.requestBody) || record }
  })
  return [
    NOTE,
    "import type { components } from './types.js'\n",
    "type Schemas = components['schemas']\n",
    // The global Error is another.
    ...Object.keys(schemas).map((name) => `export type ${name === 'Error' ? 'ErrorBody' : name} = Schemas['${name}']`),
    '\n/** The records of the packaged contract, by resource. */\nexport interface PackagedRecords {',
    ...rows.map(({ name, record }) => `  readonly ${name}: ${record}`),
    '}\n\n/** What a client may send for a record. */\nexport interface PackagedInputs {',
    ...rows.map(({ name, input }) => `  readonly ${name}: ${input}`),
    '}\n',
  ].join('\n')
}

/** What examples in help and messages name. */
function examplesModule({ operations, resources }: ContractData): string {
  const [resource] = resources
  const idOf = (kind: string) =>
    operations.find(({ action }) => action?.kind === kind && action.resource === resource?.name)?.id ?? '*'
  const create = operations.find(({ id }) => id === idOf('create'))
  const fields = (create?.body?.fields ?? []).filter(({ required }) => required)
  const record = Object.fromEntries(fields.map(({ name, type }) => [name, type === 'string' ? 'Rex' : 1]))
  const [, filtered] = operations.find(({ id }) => id === idOf('list'))?.parameters ?? []
  const filter = `--${filtered?.name} ${filtered?.enum?.[0]}`
  const example = {
    ...{ list: idOf('list'), create: idOf('create'), get: idOf('get') },
    ...{ resource: resource?.name, path: resource?.path, filter, record },
  }
  return `${NOTE}\nexport const EXAMPLE = ${JSON.stringify(example, null, 2)}\n`
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
  return `${NOTE}${inOurWords(code)}`
}

/** As the validators that are made at run time. */
function inOurWords(code: string): string {
  return code
    .replaceAll('message:"must be string"', 'message:"must be a string"')
    .replace(
      /allowedValues: (\S+?)\},message:"must be equal to one of the allowed values"/g,
      'allowedValues: $1},message:"must be one of "+$1.join(", ")',
    )
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
