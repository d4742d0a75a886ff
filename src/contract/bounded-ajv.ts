import { _, type CodeKeywordDefinition, type FuncKeywordDefinition, type KeywordCxt, Name, nil, str } from 'ajv'
import { mergeEvaluated, Type } from 'ajv/dist/compile/util.js'
import { callValidateCode } from 'ajv/dist/vocabularies/code.js'
import { createAjv, MULTIPLE_OF } from './ajv.js'
import { FORMATS } from './formats.js'
import { isNode, type Node } from './json.js'
import type { JsonSchema } from './json-schema.js'
import { LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA } from './keywords.js'
import type { Pattern } from './patterns.js'
import type { Mistake, Validator } from './validator.js'

/**
 * Steps of one validation. The limit is the same on every machine, so that no verdict depends on time. A step takes about
 * 20 ns, like applying a simple schema. The experiment `hostile-bodies` of `npm run torture` measures it.
 */
const MAX_STEPS = 1_000_000

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
 * - Each schema that is applied takes steps (`price`), as do the characters of texts, the names of objects and errors.
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
  // Code for each name takes long to compile, and is never optimized.
  const ajv = createAjv({ formats, loopRequired: 16, code: { regExp, optimize: false } })
  for (const keyword of REPLACED) ajv.removeKeyword(keyword)
  ajv
    .addKeyword(priceKeyword(run, maxErrors))
    .addKeyword(callKeyword(run, maxErrors))
    .addKeyword(containsKeyword(run))
    .addKeyword(alternatives('anyOf', 1, 'must match a schema in anyOf'))
    .addKeyword(alternatives('oneOf', 2, 'must match exactly one schema in oneOf'))
    .addKeyword(DEPENDENT_REQUIRED)
    .addKeyword(uniqueItems(run))
    .addKeyword(knownValues('oneOfValues', 'must be equal to one of the allowed values', run))
    .addKeyword(knownValues('constantValue', 'must be equal to constant', run))
    .addKeyword({ ...MULTIPLE_OF, validate: countedMultiple(run) })

  return (root, isEager) => {
    const text = JSON.stringify(root)
    const usesUnevaluated = text.includes('"unevaluated')
    const hasInherited = INHERITED.some((name) => text.includes(`"${name}"`))
    const compileOne = (schema: JsonSchema): Compiled => {
      // Their bookkeeping takes longer than the rest.
      ajv.opts.unevaluated = usesUnevaluated
      ajv.opts.ownProperties = hasInherited
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

/** Names that every object seems to have, as `constructor`. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype)

/** Keywords of ajv that take more than linear time, or make any number of errors. */
const REPLACED = ['anyOf', 'contains', 'dependentRequired', 'multipleOf', 'oneOf', 'uniqueItems']

class Run {
  left = 0
  readonly verdicts: Map<unknown, Verdict>[] = []
  /** The texts of objects and arrays. */
  readonly texts = new Map<object, string>()

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
      run.texts.clear()
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
  // ajv sets and reads both on the function that `compile` returned.
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

/** The cost of applying a schema, without the schemas in it. */
interface Price {
  readonly steps: number
  /** For each name of an object. */
  readonly perName: number
  readonly countsCharacters: boolean
  /** Whether the function's errors so far are final: it is not within an alternative. */
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
      const seen = new Values()
      for (const item of items) {
        run.take(4)
        if (seen.has(item, run)) return false
        seen.add(item, run)
      }
      return true
    },
  }
}

/** `enum` and `const` of many, long or nested values. */
function knownValues(keyword: string, message: string, run: Run): FuncKeywordDefinition {
  return {
    keyword,
    schemaType: 'array',
    error: { message },
    compile(values: readonly unknown[]) {
      const known = new Values()
      for (const value of values) known.add(value)
      return (value: unknown) => {
        run.take(2)
        return known.has(value, run)
      }
    },
  }
}

/** A set in which equal objects and arrays are the same. */
class Values {
  readonly #plain = new Set<unknown>()
  readonly #texts = new Set<string>()

  has(value: unknown, run?: Run): boolean {
    if (!isObject(value)) return this.#plain.has(value)
    return this.#texts.size > 0 && this.#texts.has(textOf(value, run))
  }

  add(value: unknown, run?: Run): void {
    if (isObject(value)) this.#texts.add(textOf(value, run))
    else this.#plain.add(value)
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Equal for equal values. */
function textOf(value: object, run?: Run): string {
  const known = run?.texts.get(value)
  if (known !== undefined) return known
  const text = canonicalText(value)
  run?.take(text.length >> 1)
  run?.texts.set(value, text)
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

const ERROR_STEPS = 4
/** Errors of a called function that are kept, also if one ends the validation. */
const LEAST_ERRORS = 100

/** Instead of `$ref`, whose target ajv compiles at once, by recursion. */
function callKeyword(run: Run, maxErrors: number): CodeKeywordDefinition {
  const withErrors = (list: Mistake[] | null, added: readonly Mistake[]) => {
    run.take(added.length * ERROR_STEPS)
    const all = list ?? []
    for (let at = 0; at < added.length && at < Math.max(maxErrors, LEAST_ERRORS); at++) all.push(added[at] as Mistake)
    return all
  }
  return {
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
        // All of them, if true.
        gen.assign(items, _`${called}.evaluated.items === true ? Infinity : ${called}.evaluated.items ?? 0`)
      }
      const isSilent = it.createErrors === false
      context.result(callValidateCode(context, called, nil), readEvaluated, isSilent ? undefined : addErrors)
      if (!it.opts.unevaluated) return
      if (it.props !== true) it.props = mergeEvaluated.props(gen, props, it.props, Name)
      if (it.items !== true) it.items = mergeEvaluated.items(gen, items, it.items, Name)
    },
  }
}

/** A schema that ends at its first error may end before its own price. */
const CONTAINS_STEPS = 4

/** Without the errors of the items, of which there may be very many. */
function containsKeyword(run: Run): CodeKeywordDefinition {
  return {
    keyword: 'contains',
    type: 'array',
    schemaType: ['object', 'boolean'],
    trackErrors: true,
    error: {
      message: ({ params: { min, max } }) =>
        max === undefined
          ? str`must contain at least ${min} valid item(s)`
          : str`must contain at least ${min} and no more than ${max} valid item(s)`,
    },
    code(context: KeywordCxt): void {
      const { gen, data, it, parentSchema } = context
      const { minContains: min = 1, maxContains: max } = parentSchema
      context.setParams({ min, max })
      if (min === 0 && max === undefined) return
      // As ajv: all items are evaluated.
      it.items = true
      const count = gen.let('count', 0)
      const valid = gen.name('_valid')
      const counter = gen.scopeValue('obj', { ref: run })
      gen.forRange('i', 0, _`${data}.length`, (dataProp) => {
        const silent = { compositeRule: true, createErrors: false, allErrors: false } as const
        gen.code(_`${counter}.take(${CONTAINS_STEPS})`)
        context.subschema({ keyword: 'contains', dataProp, dataPropType: Type.Num, ...silent }, valid)
        context.reset()
        gen.if(valid, () => gen.code(_`if (++${count} ${max === undefined ? _`>= ${min}` : _`> ${max}`}) break`))
      })
      context.pass(max === undefined ? _`${count} >= ${min}` : _`${count} >= ${min} && ${count} <= ${max}`)
    },
  }
}

/**
 * `anyOf` and `oneOf`, one alternative after the other: ajv nests the code of each in the code of the last, which overflows
 * the stack at 1,000 alternatives.
 *
 * @param enough the number of valid alternatives after which the others do not matter
 */
function alternatives(keyword: 'anyOf' | 'oneOf', enough: number, message: string): CodeKeywordDefinition {
  return {
    keyword,
    schemaType: 'array',
    trackErrors: true,
    error: { message },
    code(context: KeywordCxt): void {
      const { gen, it } = context
      const count = gen.let('count', 0)
      const valid = gen.name('_valid')
      const apply = (schemaProp: number) => {
        const applied = context.subschema({ keyword, schemaProp, compositeRule: true }, valid)
        gen.if(valid, () => {
          gen.code(_`${count}++`)
          context.mergeEvaluated(applied, Name)
        })
      }
      // Each alternative that is valid says which properties it evaluates.
      const isWhole = keyword === 'anyOf' && it.opts.unevaluated === true
      for (const index of context.schema.keys())
        if (isWhole) apply(index)
        else gen.if(_`${count} < ${enough}`, () => apply(index))
      context.result(
        keyword === 'anyOf' ? _`${count} > 0` : _`${count} == 1`,
        () => context.reset(),
        () => context.error(true),
      )
    },
  }
}

/** One error, however many names are missing. */
const DEPENDENT_REQUIRED: FuncKeywordDefinition = {
  keyword: 'dependentRequired',
  type: 'object',
  schemaType: 'object',
  error: { message: 'must have the properties that others depend on' },
  compile(dependent: Readonly<Record<string, readonly string[]>>) {
    const all = Object.entries(dependent)
    return (value: Node) =>
      all.every(([name, others]) => !Object.hasOwn(value, name) || others.every((other) => Object.hasOwn(value, other)))
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
      else if (key === 'enum' && needsSet(value)) priced.oneOfValues = value
      else if (key === 'const' && needsSet([value])) priced.constantValue = [value]
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

/** Errors that ajv makes in the code of an alternative, where they are not counted. */
const MAX_LEAF_NAMES = 8

function isLeaf(schema: JsonSchema): boolean {
  return (
    namesIn(schema, 'required') <= MAX_LEAF_NAMES &&
    !Object.keys(Object(schema)).some(
      (key) => key === '$ref' || ONE_SCHEMA.has(key) || LIST_OF_SCHEMAS.has(key) || NAMED_SCHEMAS.has(key),
    )
  )
}

function namesIn(schema: JsonSchema, key: string): number {
  const value: unknown = Object(schema)[key]
  return isObject(value) ? Object.keys(value).length : 0
}

/** An alternative that is applied where it stands: its keywords may each make an error. */
function leafSteps(schema: JsonSchema): number {
  return 2 + 2 * Object.keys(Object(schema)).length + 4 * namesIn(schema, 'required')
}

function priceOf(schema: Node, isFinal: boolean): Price {
  const count = (key: string) => namesIn(schema, key)
  const names = count('properties') + count('required') + count('dependentSchemas')
  const dependent = Object.values(Object(schema.dependentRequired)).reduce<number>(
    (sum, others) => sum + 1 + Object.keys(Object(others)).length,
    0,
  )
  const choices = needsSet(schema.enum) ? 0 : count('enum')
  const alternatives = ALTERNATIVES.flatMap((key) => (key in schema ? ([schema[key]].flat() as JsonSchema[]) : []))
  const hasNames = PER_NAME.some((key) => key in schema)
  return {
    steps: alternatives.reduce(
      (sum, one) => sum + (isLeaf(one) ? leafSteps(one) : CALL_STEPS),
      1 + dependent + ((names + choices) >> 3),
    ),
    perName: hasNames ? 4 + count('patternProperties') : 0,
    countsCharacters: 'minLength' in schema || 'maxLength' in schema,
    isFinal,
  }
}

const MAX_COMPARED = 8
const MAX_COMPARED_LENGTH = 64

/** Whether it takes less to look for a value in a set than to compare it with each. */
function needsSet(values: unknown): boolean {
  if (!Array.isArray(values)) return false
  return values.length > MAX_COMPARED || values.some((one) => isObject(one) || String(one).length > MAX_COMPARED_LENGTH)
}
