import { parseSize } from '../../domain/size.js'
import { textSchema } from './reading.js'

const FORM = 'must be a whole number with a unit, for example 512KiB, 256MiB or 2GiB'

/** A size as users write it. */
export const sizeSchema = textSchema(FORM, (text) => {
  const value = parseSize(text)
  return value === undefined ? { problem: FORM } : { value }
})
