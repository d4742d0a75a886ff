import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { type RequestParts, request, statusOf, Wire } from '../wire.js'

const MEBIBYTE = 1024 * 1024
const DEEP = 200_000

/** Bodies and heads that are too large, too deep or no text at all, and the status that each must get. */
const HOSTILE: readonly (readonly [what: string, parts: RequestParts, statuses: readonly number[]])[] = [
  ['15 kB of headers', { headers: `X-Big: ${'a'.repeat(15_000)}\r\n`, body: pet('"a"') }, [201]],
  ['a header of 100 kB', { headers: `X-Big: ${'a'.repeat(100_000)}\r\n`, body: pet('"a"') }, [431]],
  ['5,000 headers', { headers: 'X: 1\r\n'.repeat(5000), body: pet('"a"') }, [201]],
  ['50,000 headers', { headers: 'X: 1\r\n'.repeat(50_000), body: pet('"a"') }, [431]],
  ['1,900 headers', { headers: 'X: 1\r\n'.repeat(1900), body: pet('"a"') }, [201]],
  ['a key of 12 kB', { key: 'k'.repeat(12_000), body: pet('"a"') }, [401]],
  ['a body at the limit', { body: padded(MEBIBYTE) }, [201]],
  ['a body a byte over the limit', { body: padded(MEBIBYTE + 1) }, [413]],
  ['a body of 20 MiB', { body: padded(20 * MEBIBYTE) }, [413]],
  [
    'invalid UTF-8',
    { body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]) },
    [400],
  ],
  ['half a character', { body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xf0, 0x9f])]) }, [400]],
  [
    'an encoded surrogate',
    { body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]) },
    [400],
  ],
  ['a lone surrogate, escaped', { body: pet('"\\ud800"') }, [201]],
  ['a NUL, escaped', { body: pet('"\\u0000"') }, [201]],
  ['a NUL, plain', { body: pet('"\0"') }, [400]],
  ['UTF-16', { body: Buffer.from(pet('"a"'), 'utf16le') }, [400]],
  ['arrays in arrays', { body: '['.repeat(DEEP) + ']'.repeat(DEEP) }, [400]],
  ['arrays without an end', { body: '['.repeat(MEBIBYTE) }, [400]],
  ['a deep field', { body: pet(`${'['.repeat(DEEP)}1e400${']'.repeat(DEEP)}`) }, [400]],
  [
    'a deep unknown field',
    { body: `{"name":"a","categoryId":1,"x":${'{"a":'.repeat(50_000)}9007199254740993${'}'.repeat(50_000)}}` },
    [201, 400],
  ],
  ['a number of a million digits', { body: `{"name":"a","categoryId":${'9'.repeat(1_000_000)}}` }, [400]],
  ['an exponent of a million', { body: '{"name":"a","categoryId":1e1000000}' }, [400]],
  ['an exponent of minus a million', { body: '{"name":"a","categoryId":1e-1000000}' }, [400]],
  ['a mebibyte of 1e308', { body: pet(`[${'1e308,'.repeat(170_000)}1]`) }, [400]],
  [
    '100,000 fields',
    { body: `{${Array.from({ length: 60_000 }, (_, i) => `"f${i}":${i}`)},"name":"a","categoryId":1}` },
    [201],
  ],
  ['the same field again and again', { body: `{${'"name":"a",'.repeat(80_000)}"name":"a","categoryId":1}` }, [201]],
  ['only quotes', { body: '"'.repeat(MEBIBYTE) }, [400]],
  ['only backslashes in a string', { body: `"${'\\'.repeat(MEBIBYTE - 1)}` }, [400]],
  ['only digits', { body: '1'.repeat(MEBIBYTE) }, [400]],
  ['only blanks', { body: ' '.repeat(MEBIBYTE) }, [400]],
  ['a promised gzip', { headers: 'Content-Encoding: gzip\r\n', body: pet('"a"') }, [415]],
]

/** Longer than any of these may take; a parser that takes its time with one holds up everybody. */
const MOST_MS = 5000

/** Bodies and heads beyond every measure: each gets its status in the Error shape, soon, and the next request is served. */
export const hostileBodies: Experiment = {
  counts: 'hostile requests',
  async run(trial) {
    const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
    let slowest = { ms: 0, what: '' }
    for (let round = 0; round < trial.size(4, 1); round++) {
      for (const [what, parts, expected] of HOSTILE) {
        const wire = await Wire.open(server.port)
        const sentAt = performance.now()
        wire.send(request('POST', '/v1/pets', parts))
        const heard = await wire.answer()
        const ms = performance.now() - sentAt
        if (ms > slowest.ms) slowest = { ms, what }
        wire.close()
        const status = statusOf(heard)
        const isRight = typeof heard !== 'string' && expected.includes(heard.status) && isErrorOrPet(heard.body)
        trial.check(isRight && ms < MOST_MS, () => `${what}: ${status}, not ${expected}, after ${Math.round(ms)} ms`)
      }
    }
    trial.note(`the slowest, ${slowest.what}, ${Math.round(slowest.ms)} ms; memory at most ${server.peakMemory()} MiB`)
  },
}

function pet(name: string): string {
  return `{"name":${name},"categoryId":1}`
}

function padded(length: number): string {
  return pet(`"${'x'.repeat(length - pet('""').length)}"`)
}

function isErrorOrPet(body: string): boolean {
  const { code, message, status, id } = JSON.parse(body)
  return id !== undefined || (typeof code === 'string' && typeof message === 'string' && typeof status === 'number')
}
