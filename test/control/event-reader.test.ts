import { expect, it } from 'vitest'
import { EventReader } from '../../src/control/event-reader.js'

it('reads server-sent events from chunks cut anywhere, without comments', () => {
  const stream = ': connected\n\nevent: exchange\ndata: {"id":1}\nid: 1\n\n: still here\n\nevent: dropped\ndata: {}\n\n'
  const events = [
    { event: 'exchange', data: '{"id":1}' },
    { event: 'dropped', data: '{}' },
  ]
  for (let cut = 0; cut <= stream.length; cut++) {
    const reader = new EventReader()
    expect([...reader.read(stream.slice(0, cut)), ...reader.read(stream.slice(cut))]).toEqual(events)
  }
})
