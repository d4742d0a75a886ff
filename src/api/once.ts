/** Makes a function act at its first call only; the others wait for the same end. */
export function once(act: () => Promise<void>): () => Promise<void> {
  let acted: Promise<void> | undefined
  return () => {
    acted ??= act()
    return acted
  }
}
