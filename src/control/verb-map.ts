import type { GenericSchema, InferInput } from 'valibot'
import type { VERBS } from './verbs.js'

// Types only, so that pages and programs can have them without the sandbox.

type Verbs = typeof VERBS
export type VerbName = keyof Verbs

/** An input can be passed as readonly data. */
type Immutable<T> = T extends Date | bigint
  ? T
  : T extends object
    ? { readonly [Field in keyof T]: Immutable<T[Field]> }
    : T

/** What a verb takes, by its schema. */
export type VerbInput<Name extends VerbName> = Verbs[Name] extends {
  readonly input: infer Schema extends GenericSchema
}
  ? Immutable<InferInput<Schema>> & object
  : { readonly [name in never]: never }

/** What a verb returns. */
export type VerbOutput<Name extends VerbName> = ReturnType<Verbs[Name]['run']>

/** A verb's input as an argument; optional if every field is. */
export type OptionalInput<Name extends VerbName> =
  Record<never, never> extends VerbInput<Name> ? [input?: VerbInput<Name>] : [input: VerbInput<Name>]
