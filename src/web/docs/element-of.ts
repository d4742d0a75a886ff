/** An element that index.html has, by its id. */
export function elementOf(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`The page has no "${id}".`)
  return element
}

/** The only one of its kind inside an element of index.html. */
export function childOf<Name extends keyof HTMLElementTagNameMap>(
  element: HTMLElement,
  name: Name,
): HTMLElementTagNameMap[Name] {
  const child = element.querySelector(name)
  if (child === null) throw new Error(`"${element.id}" has no ${name}.`)
  return child
}
