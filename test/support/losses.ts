/** Faults that lose the response of a write. */
export const LOSSES: readonly string[] = [
  'connection-reset',
  'empty-response',
  'truncated-body',
  'malformed-chunk',
  'hang',
  '500',
  '502',
  '503',
  '504',
  '503,retry-after=1s',
]
