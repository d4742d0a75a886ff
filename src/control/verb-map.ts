import type { GenericSchema, InferInput } from 'valibot'
import type { VERBS } from './verbs.js'

// Types only: pages and programs import them without the sandbox.

type Verbs = typeof VERBS
export type VerbName = keyof Verbs

export type VerbInput<Name extends VerbName> = Verbs[Name] extends {
  readonly input: infer Schema extends GenericSchema
}
  ? InferInput<Schema>
  : { readonly [name in never]: never }

export type VerbOutput<Name extends VerbName> = ReturnType<Verbs[Name]['run']>

export type OptionalInput<Name extends VerbName> =
  Record<never, never> extends VerbInput<Name> ? [input?: VerbInput<Name>] : [input: VerbInput<Name>]

/** Scripts write methods and descriptions from these types. @public */
export type VerbInputs = { readonly [Name in VerbName]: VerbInput<Name> }
/** @public */
export type VerbOutputs = { readonly [Name in VerbName]: VerbOutput<Name> }
