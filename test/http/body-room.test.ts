import { beforeEach, describe, expect, it } from 'vitest'
import { BodyRoom, type ComingBody } from '../../src/http/body-room.js'

let room: BodyRoom
let givenUp: string[]

beforeEach(() => {
  room = new BodyRoom(100)
  givenUp = []
})

function body(name: string): ComingBody {
  return { giveUp: () => givenUp.push(name) }
}

describe('the room for request bodies', () => {
  it('is shared, and comes back when a body has come or was given up', () => {
    const [one, other] = [body('one'), body('other')]
    expect(room.grow(one, 60)).toBe(true)
    expect(room.grow(other, 40)).toBe(true)
    room.leave(one)
    room.leave(one)
    expect(room.held).toBe(40)
    room.leave(other)
    expect([room.held, givenUp]).toEqual([0, []])
  })

  it('is taken from the one of which nothing has come for the longest time', () => {
    const [one, other, third] = [body('one'), body('other'), body('third')]
    room.grow(one, 40)
    room.grow(other, 40)
    room.touch(one)
    expect(room.grow(third, 30)).toBe(true)
    expect([room.held, givenUp]).toEqual([70, ['other']])
  })

  it('is taken from as many as are needed, never from who asks for it', () => {
    const [one, other, third] = [body('one'), body('other'), body('third')]
    for (const coming of [one, other, third]) room.grow(coming, 30)
    expect(room.grow(one, 90)).toBe(true)
    expect([room.held, givenUp]).toEqual([90, ['other', 'third']])
    expect(room.grow(one, 101)).toBe(false)
    expect([room.held, givenUp]).toEqual([0, ['other', 'third']])
  })

  it('is not taken from bodies that are being answered', () => {
    room.lend(90)
    expect(room.grow(body('one'), 20)).toBe(false)
    expect(room.make(11)).toBe(false)
    room.giveBack(90)
    expect(room.make(100)).toBe(true)
    expect([room.held, givenUp]).toEqual([0, []])
  })
})
