import { expect, it } from 'vitest'
import { stringifyJson } from '../../src/contract/json.js'
import { packagedText } from '../../src/contract/packaged-text.js'
import { parseDocument } from '../../src/contract/parse-document.js'
import { packageText } from '../../src/system/package-files.js'

it('has openapi.yaml, and the same document as JSON', async () => {
  const yaml = packageText('openapi.yaml')
  expect(await packagedText('yaml')).toBe(yaml)
  expect(await packagedText('json')).toBe(stringifyJson(await parseDocument('openapi.yaml', yaml), 2))
})
