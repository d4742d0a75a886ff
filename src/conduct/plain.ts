/** Plain JSON, with maps as lists of entries. */
export type Plain<State> =
  State extends Map<infer Name, infer Value>
    ? [Name, Plain<Value>][]
    : State extends readonly (infer Item)[]
      ? Plain<Item>[]
      : State extends object
        ? { [Name in keyof State]: Plain<State[Name]> }
        : State

export function toPlain<State>(state: State): Plain<State> {
  return copyOf(state) as Plain<State>
}

function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Map || Array.isArray(value)) return Array.from(value, copyOf)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copyOf(part)]))
}
