import type { OperationModel } from './contract-model.js'

/** Something that can be gone to, and what is looked for in it. */
export interface Place {
  readonly id: string
  readonly title: string
  readonly text: string
}

/** What is looked for in an operation. */
export function placeOf({ id, method, path, title, description, tag, parameters, answers }: OperationModel): Place {
  const text = [
    id,
    method,
    path,
    title,
    description,
    tag,
    ...parameters.flatMap(({ name, description: said }) => [name, said]),
    ...answers.flatMap(({ status, description: said }) => [status, said]),
  ].join(' ')
  return { id, title: `${method} ${path}`, text: text.toLowerCase() }
}

/** Places in which all words are. */
export function search(places: readonly Place[], wanted: string): readonly Place[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  return places.filter(({ text, title }) =>
    words.every((word) => text.includes(word) || title.toLowerCase().includes(word)),
  )
}
