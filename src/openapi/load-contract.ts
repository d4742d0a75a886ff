import { dirname, resolve, sep } from 'node:path'
import type { Contract } from '../contract/contract.js'
import { MAX_CHARACTERS, parseDocument } from '../contract/parse-document.js'
import { SpecError } from '../contract/spec-error.js'
import { messageOf } from '../system/message-of.js'
import { readRegularFile, realPath } from '../system/regular-file.js'
import type { Files } from './normal-form.js'
import { type LoadOptions, readContractText } from './read-text.js'

/** YAML or JSON, with the files beside it. @throws SpecError naming the file and the place in it */
export async function loadContract(file: string, options: LoadOptions = {}): Promise<Contract> {
  const { name = file } = options
  return await readContractText(textOf(file, name), { ...options, name }, filesBeside(resolve(file), options))
}

/** @param own the absolute path of the document */
function filesBeside(own: string, { onRead }: LoadOptions): Files {
  const folder = realPath(dirname(own)).replace(/[\\/]$/, '') + sep
  return {
    own,
    find(from, reference) {
      const file = resolve(dirname(from), reference)
      return realPath(file).startsWith(folder) ? file : undefined
    },
    read(file) {
      onRead?.(file)
      return parseDocument(file, decoded(readRegularFile(file, MAX_FILE_BYTES)))
    },
  }
}

/** UTF-8, or UTF-16 with a byte order mark. */
function decoded(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString('hex')
  return new TextDecoder(mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8').decode(bytes)
}

const ADDRESS = /(?:^|[\\/])(https?:)[\\/]/

/** A larger file has too many characters in any encoding. */
const MAX_FILE_BYTES = 4 * MAX_CHARACTERS

function textOf(file: string, name: string): string {
  try {
    return decoded(readRegularFile(file, MAX_FILE_BYTES))
  } catch (error) {
    const [, address] = ADDRESS.exec(file) ?? []
    if (address === undefined) throw new SpecError(`${name} cannot be read: ${messageOf(error)}`)
    throw new SpecError(`${name} is part of an address (${address}…), not a file. Download it and name the file.`)
  }
}
