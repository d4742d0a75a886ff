import { describe, expect, it } from 'vitest'
import {
  type ArmedFault,
  armFaults,
  FAULT_PHASES,
  FAULTS,
  type FaultRule,
  findFault,
  formatFaultRule,
  parseFaultRule,
} from '../../src/domain/faults.js'
import fc from '../support/fast-check.js'

describe('a fault', () => {
  it.each([
    ['listPets:503', { operation: 'listPets', fault: 'status', status: 503 }],
    ['*:connection-reset', { operation: '*', fault: 'connection-reset' }],
    ['createPet:503,retry-after=2s', { operation: 'createPet', fault: 'status', status: 503, retryAfter: '2s' }],
    [
      'getPet:500,retry-after=1m@20%*3',
      { operation: 'getPet', fault: 'status', status: 500, probability: 0.2, times: 3, retryAfter: '1m' },
    ],
    [
      'getPet:404*2:{"a":[1,"b:c"]}',
      { operation: 'getPet', fault: 'status', status: 404, times: 2, body: { a: [1, 'b:c'] } },
    ],
    ['listPets:200:[]', { operation: 'listPets', fault: 'status', status: 200, body: [] }],
    ['createPet:hang*1,after', { operation: 'createPet', fault: 'hang', times: 1, phase: 'after' }],
    [
      'createPet:503,after@20%,retry-after=1s',
      { operation: 'createPet', fault: 'status', status: 503, probability: 0.2, retryAfter: '1s', phase: 'after' },
    ],
  ])('%s is read as its rule', (text, rule) => expect(parseFaultRule(text)).toEqual(rule))

  const invalid = `
    listPets listPets: listPets:200 listPets:600 *:explode *:500@0% *:500@101% *:500*0 *:500,retry-after=
    *:500,retry-after=2 *:500,retry-after=9000h *:500,retry-after=2s*3,retry-after=2s *:hang,retry-after=2s
    *:500,during *:500,after*3,after :500 *:204:[] *:200:{] *:200:@file.json *:hang:[]
  `
  it.each(['', ...invalid.trim().split(/\s+/)])('%j is rejected with the allowed values', (text) =>
    expect(parseFaultRule(text)).toBeTypeOf('string'),
  )

  it('reads its own output', () => {
    const rule = fc.record(
      {
        operation: fc.constantFrom('*', 'listPets', 'createPet'),
        what: fc.oneof(fc.integer({ min: 400, max: 599 }), fc.constantFrom(...FAULTS)),
        percent: fc.integer({ min: 1, max: 100 }),
        times: fc.integer({ min: 1, max: 9 }),
        retryAfter: fc.constantFrom('0s', '1500ms', '2m'),
        phase: fc.constantFrom(...FAULT_PHASES),
      },
      { requiredKeys: ['operation', 'what'] },
    )
    const property = fc.property(rule, ({ what, percent, retryAfter, ...rest }) => {
      const isStatus = typeof what === 'number'
      const made: FaultRule = {
        ...rest,
        ...(isStatus ? { fault: 'status', status: what } : { fault: what }),
        ...(percent === undefined ? {} : { probability: percent / 100 }),
        ...(retryAfter === undefined || !isStatus ? {} : { retryAfter }),
      }
      expect(parseFaultRule(formatFaultRule(made))).toEqual(made)
    })
    fc.assert(property)
  })

  const armed = (texts: readonly string[], before: readonly ArmedFault[] = [], requests = 0) =>
    armFaults(
      texts.map((text) => ({ rule: parseFaultRule(text) as FaultRule })),
      before,
      requests,
    )

  it('keep their ids while they are written as they were, or with their remaining uses', () => {
    const before = armed(['*:503*3', '*:429*3', '*:429*3', '*:429'])
    const [, second, third, last] = before.map(({ id }) => id)
    expect(new Set([second, third, last]).size).toBe(3)
    const used = before.map((fault, at) => (at === 2 ? { ...fault, left: 1 } : fault))
    const after = armed(['*:429*1', '*:429', '*:429*2'], used, 0)
    expect(after).toMatchObject([{ id: third, left: 1, rule: { times: 3 } }, { id: last, left: null }, { left: 2 }])
    expect([second, third, last]).not.toContain(after[2]?.id)
    expect(armed(['*:429*3'], used)).toMatchObject([{ id: second, left: 3 }])
  })

  it('have ids of their own after a rule that was removed', () => {
    const [one] = armed(['*:503'], [], 1)
    const [other] = armed(['*:429'], [], 2)
    expect(one?.id).not.toBe(other?.id)
  })

  it('applies the first rule that hits; used up rules and misses pass on', () => {
    const [once, ...others] = armed(['listPets:500*1', '*:502@50%', '*:503'])
    const draws = [0.9, 0.1]
    const find = (operation: string, left: number) =>
      findFault(
        [{ ...once, left } as ArmedFault, ...others],
        operation,
        () => true,
        () => draws.shift() ?? 0,
      )?.rule.status
    expect([find('listPets', 1), find('listPets', 0), find('getPet', 1)]).toEqual([500, 503, 502])
  })
})
