/** One server-sent event. */
export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Each of two bodies has 64 KiB at most, of which JSON makes six times as much at worst. */
const LONGEST_EVENT = 4 * 1024 * 1024

/**
 * Parses server-sent events from text that arrives in pieces; comments (heartbeats) are dropped.
 *
 * @source HTML standard, server-sent events: `event:` and `data:` lines
 */
export class EventReader {
  #rest = ''

  /**
   * @returns the events that this piece completes
   * @throws RangeError once an event is longer than any exchange with its two bodies can be
   */
  read(piece: string): readonly ServerEvent[] {
    const blocks = (this.#rest + piece).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    if (this.#rest.length > LONGEST_EVENT) throw new RangeError(`an event has more than ${LONGEST_EVENT} characters`)
    return blocks.map(readEvent).filter((event) => event !== undefined)
  }
}

function readEvent(block: string): ServerEvent | undefined {
  let event: string | undefined
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice('event: '.length)
    else if (line.startsWith('data: ')) data.push(line.slice('data: '.length))
  }
  return event === undefined ? undefined : { event, data: data.join('\n') }
}
