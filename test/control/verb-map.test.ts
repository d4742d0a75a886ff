import type { GenericSchema, InferInput } from 'valibot'
import { describe, expect, it } from 'vitest'
import type { VerbInput, VerbName } from '../../src/control/verb-map.js'
import type { VERBS } from '../../src/control/verbs.js'

/** What no verb changes: arrays of schemas are not readonly by themselves. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]: Given<T[Field]> }
    : T

type Taken<Verb> = Verb extends { readonly input: infer Schema extends GenericSchema }
  ? Given<InferInput<Schema>>
  : object

/** Names of the verbs whose schema refuses what the map says they take. */
type Misfit = { [Name in VerbName]: VerbInput<Name> extends Taken<(typeof VERBS)[Name]> ? never : Name }[VerbName]

describe('the map of verbs', () => {
  it('says nothing that a verb does not take (checked by tsc)', () => {
    const misfits: readonly never[] = [] as readonly Misfit[]
    expect(misfits).toEqual([])
  })
})
