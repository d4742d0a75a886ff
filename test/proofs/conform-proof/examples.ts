import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDirectory } from '../../../src/system/package-files.js'

export const CONFORM_PAGE = readFileSync(join(packageDirectory, 'docs/conform.md'), 'utf8')

/** The client of docs/conform.md, with the program that runs it. */
export const EXAMPLES = [['client.mjs', 'node']] as const

export function example(file: string): string {
  const [, text = ''] = new RegExp(`^\`\`\`\\w+ no-run: ${file},[^\\n]*\\n(.*?)^\`\`\``, 'ms').exec(CONFORM_PAGE) ?? []
  return text
}
