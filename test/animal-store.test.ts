import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { packageDirectory } from '../src/system/package-files.js'

/** Words of the packaged contract. */
const WORDS = /\b[pP]ets?(?![a-z])|[a-z]Pets?(?![a-z])|\bPETS?_|_PETS?\b|\borders\b|listOrders|['"]\/v1\//

/** The only files that may know the animal store, each with its reason. */
const KNOWN: Readonly<Record<string, string>> = {
  'fixtures/generate-records.ts': 'which resource has a generator with the names of animals',
  'fixtures/generated-pets.ts': 'that generator: names beyond ASCII, and an id above 2^53',
  'fixtures/load-fixtures.ts': 'the packaged records',
  'store/version-1.ts': 'stores of earlier builds',
}

it('the sandbox serves any contract: only a few files name what the packaged one has', () => {
  const src = join(packageDirectory, 'src')
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /\.tsx?$/.test(file) &&
      !file.includes('generated/') &&
      WORDS.test(codeOf(join(src, file)).replaceAll(/petstore/gi, '')),
  )
  expect(found.sort()).toEqual(Object.keys(KNOWN).sort())
})

/** Without comments. */
function codeOf(file: string): string {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const printer = ts.createPrinter({ removeComments: true })
  return printer.printFile(source)
}
