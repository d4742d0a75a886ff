/** Makes a part on first use. */
export function lazily<Part extends object>(make: () => Part): () => Part {
  let part: Part | undefined
  return () => {
    part ??= make()
    return part
  }
}
