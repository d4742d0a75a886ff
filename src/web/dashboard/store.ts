import { useLayoutEffect, useState } from 'preact/hooks'

/** A record that components read parts of; they render again when those change. */
export class Observable<State extends object> {
  #state: State
  readonly #readers = new Set<() => void>()

  constructor(state: State) {
    this.#state = state
  }

  get(): State {
    return this.#state
  }

  set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change }
    for (const tell of this.#readers) tell()
  }

  subscribe(reader: () => void): () => void {
    this.#readers.add(reader)
    return () => this.#readers.delete(reader)
  }
}

/** A part of a store, as it is now. */
export function useStore<State extends object, Part>(store: Observable<State>, select: (state: State) => Part): Part {
  const part = select(store.get())
  const [, render] = useState(0)
  useLayoutEffect(() => {
    const look = () => {
      if (!Object.is(select(store.get()), part)) render((count) => count + 1)
    }
    look()
    return store.subscribe(look)
  })
  return part
}
