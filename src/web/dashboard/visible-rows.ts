/** Rows that are rendered beyond the visible ones, on either side. */
const BEYOND = 6

/** Which rows of a long list are rendered: from first up to, but not including, end. */
export function visibleRows(
  count: number,
  rowHeight: number,
  scrollTop: number,
  height: number,
): { readonly first: number; readonly end: number } {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - BEYOND))
  return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + BEYOND) }
}

/** Where to scroll so that a row is seen, undefined if it is. */
export function scrollToRow(index: number, rowHeight: number, scrollTop: number, height: number): number | undefined {
  const top = index * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : undefined
}
