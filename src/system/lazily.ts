/** Opens a part on first use. */
export function lazily<Part>(open: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | undefined
  return () => {
    part ??= open()
    return part
  }
}
