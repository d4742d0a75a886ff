import { promisify } from 'node:util'
import type { Bytes } from '../domain/numbers.js'
import { TooLargeError } from './limits.js'

export class UndecodableError extends Error {}

/** @throws UndecodableError, TooLargeError */
export async function decompress(body: Buffer, encoding: string | undefined, limit: Bytes): Promise<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity' || body.length === 0) return body
  if (name !== 'gzip' && name !== 'br')
    throw new UndecodableError(`the response is encoded with ${JSON.stringify(name)}`)
  // Loaded late: most responses are not compressed.
  const { brotliDecompress, gunzip } = process.getBuiltinModule('node:zlib')
  const decode = { gzip: promisify(gunzip), br: promisify(brotliDecompress) }[name]
  try {
    return await decode(body, { maxOutputLength: limit })
  } catch (error) {
    if (error instanceof RangeError) throw new TooLargeError(limit)
    throw new UndecodableError(`the response is not valid ${name}, although Content-Encoding says so`)
  }
}
