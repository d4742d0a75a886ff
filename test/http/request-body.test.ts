import { beforeEach, describe, expect, it } from 'vitest'
import { BodyBudget, type IncomingBody } from '../../src/http/request-body.js'

let budget: BodyBudget
let discarded: string[]

beforeEach(() => {
  budget = new BodyBudget(100)
  discarded = []
})

function body(name: string): IncomingBody {
  return { discard: () => discarded.push(name) }
}

describe('the memory for request bodies', () => {
  it('is shared, and freed when a body is complete or discarded', () => {
    const [one, other] = [body('one'), body('other')]
    expect(budget.grow(one, 60)).toBe(true)
    expect(budget.grow(other, 40)).toBe(true)
    budget.release(one)
    budget.release(one)
    expect(budget.used).toBe(40)
    budget.release(other)
    expect([budget.used, discarded]).toEqual([0, []])
  })

  it('is taken from the body that has stalled for the longest time', () => {
    const [one, other, third] = [body('one'), body('other'), body('third')]
    budget.grow(one, 40)
    budget.grow(other, 40)
    budget.grow(one, 40)
    expect(budget.grow(third, 30)).toBe(true)
    expect([budget.used, discarded]).toEqual([70, ['other']])
  })

  it('is taken from as many bodies as needed, never from the growing one', () => {
    const [one, other, third] = [body('one'), body('other'), body('third')]
    for (const coming of [one, other, third]) budget.grow(coming, 30)
    expect(budget.grow(one, 90)).toBe(true)
    expect([budget.used, discarded]).toEqual([90, ['other', 'third']])
    expect(budget.grow(one, 101)).toBe(false)
    expect([budget.used, discarded]).toEqual([0, ['other', 'third']])
  })

  it('is not taken from bodies of pending requests', () => {
    const free = budget.reserve(90)
    expect(budget.grow(body('one'), 20)).toBe(false)
    expect(budget.makeRoom(11)).toBe(false)
    free()
    expect(budget.makeRoom(100)).toBe(true)
    expect([budget.used, discarded]).toEqual([0, []])
  })
})
