import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/domain/settings.js'
import {
  addMember,
  differences,
  type Group,
  type GroupFacts,
  type JoinRequest,
  livingMembers,
  MEMBER_TIMEOUT_MS,
  touchMember,
} from '../../src/replication/group.js'

const FACTS: GroupFacts = {
  seed: 1,
  start: { settings: DEFAULT_SETTINGS, faults: [], freeze: false, used: {}, bans: {} },
  others: { '--order': 'newest', 'the contract': 'abc', 'the fixtures': 'def' },
}

function joinRequest(facts: GroupFacts = FACTS, anew?: JoinRequest['anew']): JoinRequest {
  return { name: 'a', version: '1', facts, ...(anew && { anew }) }
}

const newGroup = (): Group => ({ joined: 0, members: {} })

describe('a group', () => {
  it('refuses other facts while a member is alive, and lists each difference', () => {
    const group = newGroup()
    addMember(group, 'a', joinRequest(), 0, 1)
    const other: GroupFacts = {
      seed: 2,
      start: { ...FACTS.start, settings: { ...DEFAULT_SETTINGS, plan: 'pro' }, freeze: true },
      others: { '--order': 'oldest', 'the contract': 'xyz', 'the fixtures': 'def' },
    }
    expect(addMember(group, 'b', joinRequest(other), 1, 2)).toBe('refused')
    expect(differences(other, FACTS)).toEqual([
      '--seed is 2 here and 1 in the group',
      'the start (plan) differs',
      'the start (freeze) differs',
      '--order is oldest here and newest in the group',
      'the contract differs',
    ])
  })

  it('restarts only if no member is alive, and the whole log was read', () => {
    const group = newGroup()
    addMember(group, 'a', joinRequest(), 0, 1)
    const late = MEMBER_TIMEOUT_MS + 1
    const other = { ...FACTS, seed: 2 }
    expect(addMember(group, 'b', joinRequest(other, { after: 1 }), late - 1, 2)).toBe('refused')
    expect(addMember(group, 'b', joinRequest(other, { after: 0 }), late, 2)).toBe('refused')
    expect(addMember(group, 'b', joinRequest(other, { after: 1 }), late, 2)).toBe('founded')
    expect(group.facts?.seed).toBe(2)
    expect(touchMember(group, 'a', late)).toBe(false)
  })

  it('never reuses an ordinal', () => {
    const group = newGroup()
    for (const [index, id] of ['a', 'b', 'c'].entries()) {
      addMember(group, id, joinRequest(), index, index + 1)
      expect(livingMembers(group, index)[0]?.[1].ordinal).toBe(index + 1)
      delete group.members[id]
    }
  })
})
