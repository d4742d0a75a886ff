/** `INV-0007` of the seventh record, after `INV-0001`; `draft-7` after `draft`. */
export function countedValue(first: unknown, own: number | bigint | string): unknown {
  if (typeof first !== 'string') return Number(first) + Number(own) - 1
  const [, before, digits = ''] = /^(.*?)(\d*)$/s.exec(first) ?? []
  if (digits === '') return String(own) === '1' ? first : `${first}-${own}`
  return before + String(BigInt(digits) + BigInt(own) - 1n).padStart(digits.length, '0')
}
