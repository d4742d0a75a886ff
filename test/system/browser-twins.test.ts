import { describe, expect, it } from 'vitest'
import { packageVersion as embeddedVersion } from '../../src/system/package-files.browser.js'
import { packageVersion } from '../../src/system/package-files.js'
import * as utf8 from '../../src/system/runtime.browser.js'
import { digestOf, loadYaml as loadSmallYaml } from '../../src/system/runtime.browser.js'
import * as utf8OfNode from '../../src/system/runtime.js'
import { digestOf as digestOfNode, loadYaml } from '../../src/system/runtime.js'
import fc from '../support/fast-check.js'

/** Lone halves of surrogates among them. */
const anyText = fc.string({ unit: 'binary' }).chain((text) => fc.constantFrom(text, `${text}\ud800`, `\ufeff${text}`))

describe('browser twins of Node modules', () => {
  it('make the same digests', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyText, fc.uint8Array())), (parts) => {
        expect(digestOf(...parts)).toBe(digestOfNode(...parts))
      }),
    )
  })

  it('read and write the same UTF-8', () => {
    fc.assert(
      fc.property(anyText, fc.uint8Array(), (text, bytes) => {
        expect(utf8.utf8Length(text)).toBe(utf8OfNode.utf8Length(text))
        expect(utf8.binaryOf(text)).toBe(utf8OfNode.binaryOf(text))
        const encoded = new TextEncoder().encode(text)
        expect(utf8.utf8Text(encoded)).toBe(utf8OfNode.utf8Text(encoded))
        for (const given of [bytes, encoded]) expect(utf8.isUtf8(given)).toBe(utf8OfNode.isUtf8(given))
      }),
    )
  })

  it('have the same version as the package', () => {
    expect(embeddedVersion).toBe(packageVersion)
  })

  it('write equivalent YAML', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z][a-z-]{0,20}$/), fc.jsonValue()), (content) => {
        expect(loadYaml().parse(loadSmallYaml().stringify(content)) ?? {}).toEqual(JSON.parse(JSON.stringify(content)))
      }),
    )
  })
})
