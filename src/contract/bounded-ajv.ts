import { _, type CodeKeywordDefinition, type FuncKeywordDefinition, type KeywordCxt, Name, nil } from 'ajv'
import { mergeEvaluated } from 'ajv/dist/compile/util.js'
import { callValidateCode } from 'ajv/dist/vocabularies/code.js'
import { createAjv, MULTIPLE_OF } from './ajv.js'
import { FORMATS } from './formats.js'
import { isNode, type Node } from './json.js'
import type { JsonSchema } from './json-schema.js'
import { LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA } from './keywords.js'
import type { Pattern } from './patterns.js'
import type { Mistake, Validator } from './validator.js'

/**
 * Steps that one validation may take: the same on every machine, so that no verdict depends on time. A step is what it
 * takes to apply a simple schema, some 20 ns. Measured by the experiment `validation` of `npm run torture`.
 */
export const MAX_STEPS = 1_000_000

const TOO_LONG = new Error(`needs more than ${MAX_STEPS} checks`)

export interface BoundedOptions {
  readonly find: (pattern: string) => Pattern | undefined
  /** A validation ends once a schema has this number of errors. */
  readonly maxErrors: number
}

/** Compiles a schema. With `isEager`, all functions that it may call are compiled at once. */
export type Compile = (schema: JsonSchema, isEager: boolean) => Validator

/**
 * Compiles schemas into validators that end within {@link MAX_STEPS}, whatever the schema and the value are:
 *
 * - Each schema that is applied takes steps (`price`), as do the characters of texts and the names of objects.
 * - Each alternative, as each reference, is a function of its own (`call`), and remembers its verdicts on objects and
 *   arrays. Otherwise, nested alternatives would double the time at each level.
 * - A function ends once it has enough errors. Alternatives are other functions, so those errors are final.
 * - A function is compiled when it is first called: a schema may lead to most of a large contract.
 */
export function boundedCompiler({ find, maxErrors }: BoundedOptions): Compile {
  const run = new Run()
  const charged = (cost: (length: number) => number, test: (text: string) => boolean) => (text: string) => {
    run.take(cost(text.length))
    return test(text)
  }
  const regExp = Object.assign(
    (pattern: string) => {
      const found = find(pattern)
      const size = found?.size ?? 0
      const test = charged(
        (length) => (length * (16 + size)) >> 3,
        (text) => found?.test(text) ?? true,
      )
      return { test, toString: () => `/${pattern}/` }
    },
    // Required only for validators that are written to a file.
    { code: 'pattern' },
  )
  const formats = Object.fromEntries(
    Object.entries(FORMATS).map(([name, test]) => [name, charged((length) => length, test)]),
  )
  const ajv = createAjv({ formats, code: { regExp, optimize: false } })
    .removeKeyword('uniqueItems')
    .removeKeyword('multipleOf')
    .addKeyword(priceKeyword(run, maxErrors))
    .addKeyword(CALL)
    .addKeyword(uniqueItems(run))
    .addKeyword(oneOfValues(run))
    .addKeyword({ ...MULTIPLE_OF, validate: countedMultiple(run) })

  return (root, isEager) => {
    const usesUnevaluated = JSON.stringify(root).includes('"unevaluated')
    const compileOne = (schema: JsonSchema): Compiled => {
      // Their bookkeeping takes longer than the rest.
      ajv.opts.unevaluated = usesUnevaluated
      const compiled = ajv.compile(schema) as Compiled
      return callsOthers(schema) ? remember(compiled, run, maxErrors) : compiled
    }
    const { schema, definitions } = priced(root, compileOne)
    const whole = compileOne(schema)
    if (isEager) {
      run.left = Number.POSITIVE_INFINITY
      // The engine compiles a function when it is first called.
      for (const definition of definitions) definition.validate({})
      whole({})
    }
    return bounded(whole, run)
  }
}

class Run {
  left = 0
  verdicts: Map<unknown, Verdict>[] = []

  take(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw TOO_LONG
  }

  takeNames(value: unknown, each: number): void {
    if (isNode(value)) this.take(Object.keys(value).length * each)
  }
}

function bounded(compiled: Compiled, run: Run): Validator {
  const validator: Validator = (value) => {
    run.left = MAX_STEPS
    try {
      const isValid = compiled(value)
      validator.errors = compiled.errors ?? null
      return isValid
    } catch (error) {
      // ajv writes faulty code for some combinations of unevaluatedProperties. They are not checked.
      if (error !== TOO_LONG && !(error instanceof RangeError)) return true
      validator.errors = [{ instancePath: '', keyword: 'price', message: TOO_LONG.message, params: {} }]
      return false
    } finally {
      for (const verdicts of run.verdicts.splice(0)) verdicts.clear()
    }
  }
  return validator
}

/** A function that ajv compiled. It keeps its last result in properties. */
interface Compiled {
  (value: unknown, context?: unknown): boolean
  errors?: readonly Mistake[] | null
  evaluated?: Evaluated
}

interface Evaluated {
  props?: unknown
  items?: unknown
  readonly dynamicProps?: boolean
  readonly dynamicItems?: boolean
}

interface Verdict {
  readonly errors: readonly Mistake[] | null
  readonly props: unknown
  readonly items: unknown
}

const VALID: Verdict = { errors: null, props: undefined, items: undefined }

/** Functions that call no others take linear time anyway. */
function callsOthers(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([key, value]) => key === 'call' || callsOthers(value))
}

/** Steps of an entry in a map, and of a call that fails. */
const REMEMBER_STEPS = 8
const CALL_STEPS = 16

function remember(inner: Compiled, run: Run, maxErrors: number): Compiled {
  const verdicts = new Map<unknown, Verdict>()
  const outer: Compiled = (value, context) => {
    if (typeof value !== 'object' || value === null) return inner(value, context)
    run.take(REMEMBER_STEPS)
    const known = verdicts.get(value)
    if (known !== undefined) {
      const { evaluated } = inner
      // A copy: the caller adds its own.
      inner.errors = known.errors && [...known.errors]
      if (evaluated?.dynamicProps) evaluated.props = known.props
      if (evaluated?.dynamicItems) evaluated.items = known.items
      return known.errors === null
    }
    const isValid = inner(value, context)
    if (verdicts.size === 0) run.verdicts.push(verdicts)
    verdicts.set(value, verdictOf(inner, isValid, maxErrors))
    return isValid
  }
  // ajv sets and reads them on what it gets.
  for (const name of ['errors', 'evaluated'] as const)
    Object.defineProperty(outer, name, {
      get: () => inner[name],
      set: (value) => Object.assign(inner, { [name]: value }),
    })
  return outer
}

function verdictOf(inner: Compiled, isValid: boolean, maxErrors: number): Verdict {
  if (!isValid) {
    // The same error comes from several alternatives.
    const errors = [...new Set(inner.errors)].slice(0, maxErrors)
    inner.errors = [...errors]
    return { errors, props: undefined, items: undefined }
  }
  const { dynamicProps, dynamicItems, props, items } = inner.evaluated ?? {}
  return dynamicProps || dynamicItems ? { errors: null, props, items } : VALID
}

/** What it takes to apply a schema, without the schemas in it. */
interface Price {
  readonly steps: number
  /** For each name of an object. */
  readonly perName: number
  readonly countsCharacters: boolean
  /** Whether errors that the function has are final. */
  readonly isFinal: boolean
}

/** The variables of a compiled function. */
const ERRORS = new Name('errors')
const ERROR_LIST = new Name('vErrors')

function priceKeyword(run: Run, maxErrors: number): CodeKeywordDefinition {
  return {
    keyword: 'price',
    schemaType: 'object',
    code({ gen, data, schema, it }: KeywordCxt): void {
      const { steps, perName, countsCharacters, isFinal }: Price = schema
      const counter = gen.scopeValue('obj', { ref: run })
      if (isFinal && Number.isFinite(maxErrors))
        gen.code(_`if (${ERRORS} >= ${maxErrors}) { ${it.validateName}.errors = ${ERROR_LIST}; return false }`)
      gen.code(_`${counter}.take(${steps})`)
      if (countsCharacters) gen.code(_`if (typeof ${data} == "string") ${counter}.take(${data}.length >> 4)`)
      if (perName > 0) gen.code(_`${counter}.takeNames(${data}, ${perName})`)
    },
  }
}

/** In linear time. */
function uniqueItems(run: Run): FuncKeywordDefinition {
  return {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate(isOn: boolean, items: readonly unknown[]): boolean {
      if (!isOn) return true
      const seen = new Set<unknown>()
      for (const item of items) {
        run.take(2)
        const key = identity(item, run)
        if (seen.has(key)) return false
        seen.add(key)
      }
      return true
    },
  }
}

/** `enum` with objects or arrays, by their texts. */
function oneOfValues(run: Run): FuncKeywordDefinition {
  return {
    keyword: 'oneOfValues',
    schemaType: 'array',
    error: { message: 'must be equal to one of the allowed values' },
    compile(values: readonly unknown[]) {
      const known = new Set(values.map((value) => identity(value)))
      return (value: unknown) => known.has(identity(value, run))
    },
  }
}

/** Equal for equal values. Strings that clients send cannot be the text of an object: it begins with a zero byte. */
function identity(value: unknown, run?: Run): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? `"${value}` : value
  const text = `\0${canonicalText(value)}`
  run?.take(text.length >> 1)
  return text
}

function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isNode(value)) return typeof value === 'bigint' ? `${value}` : JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join()}}`
}

const MULTIPLE_STEPS = 200

function countedMultiple(run: Run): (step: number | bigint, value: unknown) => boolean {
  return (step, value) => {
    if (Number.isSafeInteger(value) && Number.isSafeInteger(step) && step !== 0)
      return Number(value) % Number(step) === 0
    if (typeof value === 'number' || typeof value === 'bigint') run.take(MULTIPLE_STEPS)
    return MULTIPLE_OF.validate?.(step, value) !== false
  }
}

const PER_NAME =
  'additionalProperties maxProperties minProperties patternProperties propertyNames unevaluatedProperties'.split(' ')
const ALTERNATIVES = 'anyOf contains if not oneOf'.split(' ')

/** A function that other functions call. */
interface Definition {
  validate: Compiled
}

const MAX_CALLED_ERRORS = 100

function withErrors(list: Mistake[] | null, added: readonly Mistake[]): Mistake[] {
  const all = list ?? []
  for (let at = 0; at < added.length && at < MAX_CALLED_ERRORS; at++) all.push(added[at] as Mistake)
  return all
}

/** Instead of `$ref`, whose target ajv compiles at once, by recursion. */
const CALL: CodeKeywordDefinition = {
  keyword: 'call',
  schemaType: 'object',
  code(context: KeywordCxt): void {
    const { gen, it, schema } = context
    const called = _`${gen.scopeValue('wrapper', { ref: schema })}.validate`
    const props = gen.var('props', _`{}`)
    const items = gen.var('items', _`0`)
    const addErrors = () => {
      // ajv's own code copies the list for each item.
      gen.assign(ERROR_LIST, _`${gen.scopeValue('func', { ref: withErrors })}(${ERROR_LIST}, ${called}.errors)`)
      gen.assign(ERRORS, _`${ERROR_LIST}.length`)
    }
    const readEvaluated = () => {
      if (!it.opts.unevaluated) return
      // A copy: the caller adds its own.
      gen.assign(props, _`${called}.evaluated.props === true || { ...${called}.evaluated.props }`)
      gen.assign(items, _`${called}.evaluated.items ?? 0`)
    }
    context.result(callValidateCode(context, called, nil), readEvaluated, addErrors)
    if (!it.opts.unevaluated) return
    if (it.props !== true) it.props = mergeEvaluated.props(gen, props, it.props, Name)
    if (it.items !== true) it.items = mergeEvaluated.items(gen, items, it.items, Name)
  },
}

/** Adds its price to each schema, and makes each alternative that has schemas in it a definition of its own. */
function priced(root: JsonSchema, compile: (schema: JsonSchema) => Compiled) {
  const { $defs = {}, ...whole }: Node = typeof root === 'boolean' ? { allOf: [root] } : root
  const definitions: Definition[] = []
  const named = new Map<string, Definition>()
  for (const [name, schema] of Object.entries($defs as Node)) named.set(name, define(schema as JsonSchema))
  return { schema: price(whole, true), definitions }

  function define(schema: JsonSchema): Definition {
    const definition: Definition = {
      validate(value, context) {
        definition.validate = compileOrAccept(() => price(schema, true))
        return definition.validate(value, context)
      },
    }
    definitions.push(definition)
    return definition
  }

  function compileOrAccept(make: () => JsonSchema): Compiled {
    try {
      return compile(make())
    } catch {
      return Object.assign(() => true, { evaluated: {} })
    }
  }

  function price(schema: JsonSchema, isFinal: boolean): JsonSchema {
    if (typeof schema === 'boolean') return schema
    const priced: Record<string, unknown> = { price: priceOf(schema, isFinal) }
    for (const [key, value] of Object.entries(schema)) {
      const inner = (one: JsonSchema) => (ALTERNATIVES.includes(key) ? alternative(one) : price(one, true))
      if (key === '$ref') priced.call = named.get(String(value).replace('#/$defs/', ''))
      else if (key === 'enum' && hasObjects(value)) priced.oneOfValues = value
      else if (ONE_SCHEMA.has(key)) priced[key] = inner(value as JsonSchema)
      else if (LIST_OF_SCHEMAS.has(key)) priced[key] = (value as readonly JsonSchema[]).map(inner)
      else if (NAMED_SCHEMAS.has(key)) priced[key] = mapEntries(value as Record<string, JsonSchema>, inner)
      else priced[key] = value
    }
    return priced
  }

  function alternative(schema: JsonSchema): JsonSchema {
    if (typeof schema === 'boolean' || isReference(schema)) return price(schema, false)
    return isLeaf(schema) ? price(schema, false) : ({ call: define(schema) } as Node)
  }
}

function mapEntries(record: Record<string, JsonSchema>, make: (schema: JsonSchema) => JsonSchema) {
  return Object.fromEntries(Object.entries(record).map(([name, one]) => [name, make(one)]))
}

function isReference(schema: Node): boolean {
  return '$ref' in schema && Object.keys(schema).length === 1
}

function isLeaf(schema: JsonSchema): boolean {
  return !Object.keys(Object(schema)).some(
    (key) => key === '$ref' || ONE_SCHEMA.has(key) || LIST_OF_SCHEMAS.has(key) || NAMED_SCHEMAS.has(key),
  )
}

function priceOf(schema: Node, isFinal: boolean): Price {
  const count = (key: string) => (typeof schema[key] === 'object' ? Object.keys(Object(schema[key])).length : 0)
  const names = count('properties') + count('required') + count('dependentRequired') + count('dependentSchemas')
  const choices = hasObjects(schema.enum) ? 0 : count('enum')
  const alternatives = ALTERNATIVES.flatMap((key) => (key in schema ? ([schema[key]].flat() as JsonSchema[]) : []))
  const hasNames = PER_NAME.some((key) => key in schema)
  return {
    steps: alternatives.reduce((sum, one) => sum + (isLeaf(one) ? 4 : CALL_STEPS), 1 + ((names + choices) >> 3)),
    perName: hasNames ? 4 + count('patternProperties') : 0,
    countsCharacters: 'minLength' in schema || 'maxLength' in schema,
    isFinal,
  }
}

function hasObjects(values: unknown): boolean {
  return Array.isArray(values) && values.some((one) => typeof one === 'object' && one !== null)
}
