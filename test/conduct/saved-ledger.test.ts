import { describe, expect, it } from 'vitest'
import { ConductLedger } from '../../src/conduct/conduct-ledger.js'
import { conductReport } from '../../src/conduct/conduct-report.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import fc from '../support/fast-check.js'
import { openIn, Scene } from './scene.js'

const LIMITS = { perMinute: 60, perDay: 1000 }

const responses = fc.constantFrom('served', 'refused', 'banned', 'failed', 'reset', 'removed')
const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      response: responses,
      path: fc.constantFrom('/pets', '/pets?limit=1', '/pets/1', '/nothing'),
      key: fc.constantFrom('sandbox', 'one', 'two'),
      connection: fc.nat(2),
      isReceived: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ ends: fc.nat(3), how: fc.constantFrom('sent', 'sent', 'sent', 'cut', 'left') }) },
  { weight: 3, arbitrary: fc.record({ pass: fc.constantFrom(1, 50, 150, 3000, 70_000), inRealTime: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ back: fc.constantFrom(1, 5000, 100_000) }) },
  { weight: 1, arbitrary: fc.constant('clear' as const) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

function apply(scene: Scene, open: number[], one: Command): void {
  if (one === 'clear') scene.ledger = new ConductLedger([LIMITS])
  else if ('pass' in one) scene.pass(one.pass, one.inRealTime ? one.pass : 0)
  else if ('back' in one) {
    scene.ledger.clockMoved(scene.now, scene.now - one.back, scene.wall)
    scene.now -= one.back
  } else if ('ends' in one) {
    const [position] = open.splice(one.ends, 1)
    if (position !== undefined) scene.ends(position, one.how as 'sent' | 'cut' | 'left')
  } else {
    const response = {
      served: scene.served,
      refused: scene.refusal(5000),
      banned: scene.refusal(60_000, 'ban'),
      failed: scene.failure,
      reset: { status: 200, body: '', fault: 'connection-reset' as const },
      removed: { status: 404, body: '', reason: 'sunset' as const },
    }[one.response]
    const sent = { ...one, isStranger: one.key !== 'sandbox', deliveredUpTo: one.isReceived ? scene.position : 0 }
    scene.ledger.count(scene.judged(sent))
    open.push(scene.sends(response, sent))
  }
}

function reportOf(scene: Scene) {
  return conductReport({
    name: '',
    conduct: scene.ledger,
    state: { settings: scene.senders === undefined ? {} : { senders: scene.senders } },
    currentPlan: ({ plan = 'free' }) => plan,
    shared: { contract: packagedContract(), keys: { find: () => undefined } },
  })
}

describe('a saved and restored ledger', () => {
  it('reports and finds the same as the original', () => {
    const commands = fc.array(command, { maxLength: 80 })
    const stated = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined })
    const property = fc.property(commands, commands, stated, (before, after, senders) => {
      const one = new Scene(senders)
      const other = new Scene(senders)
      const open: number[] = []
      for (const next of before) apply(one, open, next)
      const saved = one.ledger.save()
      const plain = JSON.parse(JSON.stringify(saved))
      expect(plain).toStrictEqual(saved)
      other.ledger = new ConductLedger([LIMITS])
      other.ledger.restore(plain)
      other.continueFrom(one)
      expect(reportOf(other)).toEqual(reportOf(one))
      const stillOpen = [...open]
      for (const next of after) {
        apply(one, open, next)
        apply(other, stillOpen, next)
      }
      expect(reportOf(other)).toEqual(reportOf(one))
      expect(other.ledger.save()).toStrictEqual(one.ledger.save())
      // Later events do not change the saved copy.
      expect(plain).toStrictEqual(saved)
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('forgets the waits of an evicted unknown key that returns', () => {
    const one = new Scene()
    one.sends(one.refusal(5000), { key: 'first', isStranger: true })
    for (let stranger = 0; stranger < 1000; stranger++)
      one.sends(one.refusal(5000), { key: `later-${stranger}`, isStranger: true })
    one.sends(one.refusal(5000), { key: 'first', isStranger: true })
    const other = new Scene()
    other.ledger.restore(one.ledger.save())
    for (const { ledger } of [one, other]) expect(openIn(ledger)).toBe(1000)
    other.continueFrom(one)
    for (const scene of [one, other]) {
      scene.ends(1)
      scene.exchanges(scene.refusal(5000), { key: 'first', isStranger: true })
    }
    expect(other.ledger.save()).toEqual(one.ledger.save())
    expect([one.broken, other.broken]).toEqual([{}, {}])
  })
})
