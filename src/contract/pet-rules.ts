import type { PetRules } from './contract.js'
import { isNode, type Place, rootPlace } from './document.js'
import { stringifyJson } from './json.js'
import { type JsonSchema, toJsonSchema } from './json-schema.js'
import { jsonContent, readFields } from './read-contract.js'
import { compileValidators } from './validators.js'
import { findViolations } from './violations.js'

/** The operations that answer with pets, and the status of theirs that is documented. */
const ANSWERS = { listPets: '200', createPet: '201', getPet: '200' } as const
type PetOperation = keyof typeof ANSWERS

/** One operation, as far as pets depend on it. */
interface Stateful {
  readonly id: PetOperation
  readonly place: Place
  /** Path parameters in the path. */
  readonly parameters: readonly Place[]
  readonly path: string
}

/**
 * Reads from a document what a pet may be in the answers that it documents, and makes sure
 * that the sandbox can give such answers at all.
 *
 * @param mocked operations that Prism answers, so that nothing is asked of them
 * @throws SpecError naming the place that cannot be served
 */
export async function readPetRules(
  document: unknown,
  patterns: 'linear' | 'native',
  mocked: readonly string[] = [],
): Promise<PetRules> {
  const operations = statefulOperations(rootPlace(document)).filter(({ id }) => !mocked.includes(id))
  const schemas: Record<string, JsonSchema> = {}
  const known: Set<string>[] = []
  for (const operation of operations) {
    const answer = answerSchema(operation)
    checkParameters(operation)
    if (answer === undefined) continue
    schemas[operation.id] = toJsonSchema(answer.written)
    const pet = operation.id === 'listPets' ? answer.schema.child('items') : answer.schema
    const fields = pet === undefined ? [] : readFields(pet)
    if (pet === undefined || fields.length === 0) continue
    const id = fields.find(({ name }) => name === 'id')
    if (id === undefined) throw pet.error('must have a field "id": by it the sandbox finds an animal again')
    if (id.type !== 'integer') throw pet.error('must have an integer as its field "id": the sandbox counts animals')
    known.push(new Set(fields.map(({ name }) => name)))
    if (operation.id === 'createPet') checkRequired(operation, pet)
  }
  const validators = await compileValidators(schemas, patterns)
  for (const { id, place } of operations) {
    const validator = validators[id]
    if (id === 'listPets' && validator !== undefined && validator([]) !== true) {
      throw place.error(
        `must answer ${ANSWERS.listPets} with an array, which may be empty: so the sandbox lists animals`,
      )
    }
  }
  return {
    fields: known.length === 0 ? undefined : intersection(known),
    findBreaches(pet) {
      const breaches = new Set<string>()
      for (const [id, validator] of Object.entries(validators)) {
        const isList = id === 'listPets'
        for (const { message } of findViolations(validator, isList ? [pet] : pet, 'body', new Map())) {
          breaches.add(isList ? message.replace(/^\[0\]\.?/, '') : message)
        }
      }
      for (const names of known) {
        for (const name of Object.keys(pet))
          if (!names.has(name)) breaches.add(`${stringifyJson(name)} is not documented`)
      }
      return [...breaches]
    },
  }
}

function intersection([first = new Set(), ...others]: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set([...first].filter((name) => others.every((other) => other.has(name))))
}

function statefulOperations(root: Place): readonly Stateful[] {
  return root.children('paths').flatMap(([path, item]) =>
    Object.keys(item.object()).flatMap((method) => {
      const place = item.child(method)
      const id = isNode(place?.value) ? place.value.operationId : undefined
      if (place === undefined || !isPetOperation(id)) return []
      return [{ id, place, path, parameters: [...item.items('parameters'), ...place.items('parameters')] }]
    }),
  )
}

function isPetOperation(id: unknown): id is PetOperation {
  return typeof id === 'string' && Object.hasOwn(ANSWERS, id)
}

/** The schema of an operation's success, undefined where none is documented. */
function answerSchema({ id, place }: Stateful): { readonly schema: Place; readonly written: Place } | undefined {
  const status = ANSWERS[id]
  const responses = place.children('responses')
  const [, response] =
    responses.find(([name]) => name === status) ??
    responses.find(([name]) => /^2XX$/i.test(name)) ??
    responses.find(([name]) => name === 'default') ??
    []
  if (response === undefined && responses.some(([name]) => name.startsWith('2'))) {
    throw place.error(`must document the status ${status}, with which the sandbox answers`)
  }
  if (response === undefined) return undefined
  const content = jsonContent(response)
  if (content === undefined && response.children('content').length > 0) {
    throw response.error('must be application/json, as all that the sandbox answers')
  }
  const schema = content?.child('schema')
  return content === undefined || schema === undefined ? undefined : { schema, written: content.written('schema') }
}

/** What the sandbox looks at itself must be of a kind that it understands. */
function checkParameters({ id, place, path, parameters }: Stateful): void {
  const schemaOf = (location: string, name: string | undefined) =>
    parameters
      .filter((one) => one.string('in') === location && (name === undefined || one.string('name') === name))
      .at(-1)
      ?.child('schema')
  const inPath = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
  if (id === 'getPet') {
    const type = inPath.length === 1 ? typeOf(schemaOf('path', inPath[0])) : undefined
    if (type !== 'integer') throw place.error('must have one path parameter, an integer: the id of an animal')
  }
  if (id !== 'listPets') return
  const limit = schemaOf('query', 'limit')
  if (limit !== undefined && typeOf(limit) !== 'integer')
    throw limit.error('must be an integer: how many animals to list')
  const status = schemaOf('query', 'status')
  if (status !== undefined && typeOf(status) !== 'string') throw status.error('must be a string: the status to list')
}

function typeOf(schema: Place | undefined): unknown {
  const type: unknown = isNode(schema?.value) ? schema.value.type : undefined
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type
}

/** What an answer must have, a client must have sent: the sandbox adds the id and nothing else. */
function checkRequired({ place }: Stateful, pet: Place): void {
  const body = place.child('requestBody')
  const sent = body?.flag('required') === true ? jsonContent(body)?.child('schema') : undefined
  const given = new Set(sent === undefined ? [] : requiredFields(sent))
  for (const name of requiredFields(pet)) {
    if (name === 'id' || given.has(name)) continue
    throw pet.error(
      `requires ${stringifyJson(name)}, which createPet need not be sent: the sandbox would have nothing to answer. Require it in createPet's body (and the body itself), or let it be left out of the answer`,
    )
  }
}

/** The fields without which nothing matches a schema. */
function requiredFields(schema: Place, seen: ReadonlySet<unknown> = new Set()): readonly string[] {
  if (seen.has(schema.value)) return []
  const inside = new Set([...seen, schema.value])
  const own = schema.items('required').flatMap(({ value }) => (typeof value === 'string' ? value : []))
  return [...own, ...schema.items('allOf').flatMap((part) => requiredFields(part, inside))]
}
