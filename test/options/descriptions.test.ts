import { expect, it } from 'vitest'
import { OPTION_NAMES, optionRow } from '../../src/options/table.js'

it.each(OPTION_NAMES)('explains --%s in less than 60 characters', (name) =>
  expect(optionRow(name).description.length).toBeLessThan(60),
)
