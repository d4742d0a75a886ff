import { createAjv, MULTIPLE_OF } from './ajv.js'
import {
  alternatives,
  callKeyword,
  containsKeyword,
  countedMultiple,
  DEPENDENT_REQUIRED,
  isObject,
  knownValues,
  priceKeyword,
  uniqueItems,
} from './bounded-keywords.js'
import { type Compiled, MAX_STEPS, type Price, Run, TOO_LONG, type Verdict } from './bounded-run.js'
import { FORMATS } from './formats.js'
import type { Node } from './json.js'
import type { JsonSchema } from './json-schema.js'
import { LIST_OF_SCHEMAS, NAMED_SCHEMAS, ONE_SCHEMA } from './keywords.js'
import { wordedMistakes } from './mistake-words.js'
import type { Pattern } from './patterns.js'
import type { Validator } from './validator.js'

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

function bounded(compiled: Compiled, run: Run): Validator {
  const validator: Validator = (value) => {
    run.left = MAX_STEPS
    try {
      const isValid = compiled(value)
      validator.errors = compiled.errors ? wordedMistakes(compiled.errors) : null
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

const PER_NAME =
  'additionalProperties maxProperties minProperties patternProperties propertyNames unevaluatedProperties'.split(' ')
const ALTERNATIVES = 'anyOf contains if not oneOf'.split(' ')

/** A function that other functions call. */
interface Definition {
  validate: Compiled
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
      const inner = (jsonSchema: JsonSchema) =>
        ALTERNATIVES.includes(key) ? alternative(jsonSchema) : price(jsonSchema, true)
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
      (sum, alternative) => sum + (isLeaf(alternative) ? leafSteps(alternative) : CALL_STEPS),
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
  return (
    values.length > MAX_COMPARED ||
    values.some((value) => isObject(value) || String(value).length > MAX_COMPARED_LENGTH)
  )
}
