import type { GenericSchema, InferInput } from 'valibot'
import type { VERBS } from './verbs.js'

// Types only: pages and programs import them without the sandbox.

type Verbs = typeof VERBS
export type VerbName = keyof Verbs

type Immutable<T> = T extends Date | bigint
  ? T
  : T extends object
    ? { readonly [Field in keyof T]: Immutable<T[Field]> }
    : T

export type VerbInput<Name extends VerbName> = Verbs[Name] extends {
  readonly input: infer Schema extends GenericSchema
}
  ? Immutable<InferInput<Schema>> & object
  : { readonly [name in never]: never }

export type VerbOutput<Name extends VerbName> = ReturnType<Verbs[Name]['run']>

export type OptionalInput<Name extends VerbName> =
  Record<never, never> extends VerbInput<Name> ? [input?: VerbInput<Name>] : [input: VerbInput<Name>]
