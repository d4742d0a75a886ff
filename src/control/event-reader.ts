export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** An exchange has two bodies of at most 64 KiB, which JSON escapes may make six times larger. */
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024

/**
 * Parses server-sent events from chunks of text; drops comments (heartbeats).
 * @source HTML standard, server-sent events: `event:` and `data:` lines
 */
export class EventReader {
  #rest = ''

  /** @returns the completed events. @throws RangeError for an event larger than any exchange */
  read(piece: string): readonly ServerEvent[] {
    const blocks = (this.#rest + piece).split('\n\n')
    this.#rest = blocks.pop() ?? ''
    if (this.#rest.length > MAX_EVENT_CHARACTERS)
      throw new RangeError(`an event has more than ${MAX_EVENT_CHARACTERS} characters`)
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
