import { _, type CodeKeywordDefinition, type FuncKeywordDefinition, type KeywordCxt, Name, nil, str } from 'ajv'
import { mergeEvaluated, Type } from 'ajv/dist/compile/util.js'
import { callValidateCode } from 'ajv/dist/vocabularies/code.js'
import { MULTIPLE_OF } from './ajv.js'
import type { Price, Run } from './bounded-run.js'
import { canonicalText } from './canonical-text.js'
import type { Node } from './json.js'
import type { Mistake } from './validator.js'

/** The variables of a compiled function. */
const ERRORS = new Name('errors')
const ERROR_LIST = new Name('vErrors')

export function priceKeyword(run: Run, maxErrors: number): CodeKeywordDefinition {
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
export function uniqueItems(run: Run): FuncKeywordDefinition {
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
export function knownValues(keyword: string, message: string, run: Run): FuncKeywordDefinition {
  return {
    keyword,
    schemaType: 'array',
    error: { message, params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
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

export function isObject(value: unknown): value is object {
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

const MULTIPLE_STEPS = 200

export function countedMultiple(run: Run): (step: number | bigint, value: unknown) => boolean {
  return (step, value) => {
    if (Number.isSafeInteger(value) && Number.isSafeInteger(step) && step !== 0)
      return Number(value) % Number(step) === 0
    if (typeof value === 'number' || typeof value === 'bigint') run.take(MULTIPLE_STEPS)
    return MULTIPLE_OF.validate?.(step, value) !== false
  }
}

const ERROR_STEPS = 4
/** Errors of a called function that are kept, also if one ends the validation. */
const LEAST_ERRORS = 100

/** Instead of `$ref`, whose target ajv compiles at once, by recursion. */
export function callKeyword(run: Run, maxErrors: number): CodeKeywordDefinition {
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
export function containsKeyword(run: Run): CodeKeywordDefinition {
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
export function alternatives(keyword: 'anyOf' | 'oneOf', enough: number, message: string): CodeKeywordDefinition {
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
export const DEPENDENT_REQUIRED: FuncKeywordDefinition = {
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
