import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { OPTION_NAMES, optionRow } from '../../src/options/table.js'

const SOURCE = join(import.meta.dirname, '../../src')

it('reads each option somewhere besides its declaration', () => {
  const text = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/^(?:options\/(?:table|options)\.ts|web\/|browser\/)/.test(file))
    .map((file) => readFileSync(join(SOURCE, file), 'utf8').replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, ''))
    .join('\n')
  expect(OPTION_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
})

it.each(OPTION_NAMES)('explains --%s in less than 60 characters', (name) =>
  expect(optionRow(name).description.length).toBeLessThan(60),
)
