const BEYOND = 6

/** Rows to render: from `first` up to, but not including, `end`. */
export function visibleRows(
  count: number,
  rowHeight: number,
  scrollTop: number,
  height: number,
): { readonly first: number; readonly end: number } {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight) - BEYOND))
  return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + BEYOND) }
}

/** Undefined if the row is visible. */
export function scrollToRow(index: number, rowHeight: number, scrollTop: number, height: number): number | undefined {
  const top = index * rowHeight
  if (top < scrollTop) return top
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : undefined
}
