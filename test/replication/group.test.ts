import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/settings.js'
import {
  differences,
  Group,
  type GroupFacts,
  type JoinRequest,
  MEMBER_TIMEOUT_MS,
} from '../../src/replication/group.js'

const FACTS: GroupFacts = {
  seed: 1,
  start: { settings: DEFAULT_SETTINGS, faults: [], freeze: false, used: {}, bans: {} },
  others: { '--order': 'newest', 'the contract': 'abc', 'the fixtures': 'def' },
}

function joinRequest(facts: GroupFacts = FACTS, anew?: JoinRequest['anew']): JoinRequest {
  return { name: 'a', version: '1', facts, ...(anew && { anew }) }
}

describe('a group', () => {
  it('refuses other facts while a member is alive, and lists each difference', () => {
    const group = new Group()
    group.join('a', joinRequest(), 0, 1)
    const other: GroupFacts = {
      seed: 2,
      start: { ...FACTS.start, settings: { ...DEFAULT_SETTINGS, plan: 'pro' }, freeze: true },
      others: { '--order': 'oldest', 'the contract': 'xyz', 'the fixtures': 'def' },
    }
    expect(group.join('b', joinRequest(other), 1, 2)).toBe('refused')
    expect(differences(other, FACTS)).toEqual([
      '--seed is 2 here and 1 in the group',
      'the start (plan, freeze) differs',
      '--order is oldest here and newest in the group',
      'the contract differs',
    ])
  })

  it('restarts only if no member is alive, and the whole log was read', () => {
    const group = new Group()
    group.join('a', joinRequest(), 0, 1)
    const late = MEMBER_TIMEOUT_MS + 1
    const other = { ...FACTS, seed: 2 }
    expect(group.join('b', joinRequest(other, { after: 1 }), late - 1, 2)).toBe('refused')
    expect(group.join('b', joinRequest(other, { after: 0 }), late, 2)).toBe('refused')
    expect(group.join('b', joinRequest(other, { after: 1 }), late, 2)).toBe('founded')
    expect(group.facts?.seed).toBe(2)
    expect(group.touch('a', late)).toBe(false)
  })

  it('never reuses an ordinal', () => {
    const group = new Group()
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      group.join(id, joinRequest(), index, index + 1)
      expect(group.living(index)[0]?.[1].ordinal).toBe(index + 1)
      group.leave(id)
    }
  })

  it('survives a checkpoint', () => {
    const group = new Group()
    group.join('a', joinRequest(), 0, 1)
    group.touch('a', 5, { address: 'a:1', applied: 4, position: 7, lagMs: 1 })
    const other = new Group()
    other.load(group.save())
    expect(other.save()).toEqual(group.save())
  })
})
