import { describe, expect, it } from 'vitest'
import { Mailbox } from '../../src/control/async-queue.js'

describe('a mailbox', () => {
  it('gives everything that came since the last time', async () => {
    const mailbox = new Mailbox<number>()
    mailbox.push(1)
    mailbox.push(2)
    expect(await mailbox.take()).toEqual({ kind: 'items', items: [1, 2], dropped: 0 })
    const next = mailbox.take()
    mailbox.push(3)
    expect(await next).toEqual({ kind: 'items', items: [3], dropped: 0 })
  })

  it('drops the oldest exchanges for a slow reader, and reports how many', async () => {
    const mailbox = new Mailbox<number>(3)
    for (let i = 1; i <= 10; i++) mailbox.push(i)
    expect(await mailbox.take()).toEqual({ kind: 'items', items: [8, 9, 10], dropped: 7 })
    mailbox.push(11)
    expect(await mailbox.take()).toMatchObject({ items: [11], dropped: 0 })
  })

  it('is quiet when nothing comes', async () => {
    expect(await new Mailbox<number>().take(1)).toEqual({ kind: 'quiet' })
  })

  it('delivers what is in it before it reports that it is closed', async () => {
    const mailbox = new Mailbox<number>()
    mailbox.push(1)
    mailbox.close()
    expect(await mailbox.take()).toMatchObject({ items: [1] })
    expect(await mailbox.take()).toEqual({ kind: 'closed' })
    const waiting = new Mailbox<number>()
    const delivery = waiting.take()
    waiting.close()
    expect(await delivery).toEqual({ kind: 'closed' })
  })
})
