import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { AnswerEnd } from '../domain/ending.js'
import { textOf } from '../domain/long-body.js'
import {
  BODY_LIMIT_BYTES,
  type EndedExchange,
  type ExchangeRef,
  type PendingReply,
  type Reply,
  type ServiceRequest,
} from '../domain/messages.js'
import type { ProblemCode } from '../domain/problems.js'
import type { Bytes } from '../domain/size.js'
import { type DurationMs, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import { BodyRoom } from './body-room.js'
import type { Connection, Outgoing } from './connection.js'
import { endedExchange } from './ended-exchange.js'
import { failedReply } from './failed-reply.js'
import { Heard } from './heard.js'
import { openPort } from './open-port.js'
import { PlainLane } from './plain-lane.js'
import { rawResponse } from './raw-response.js'
import { hasBody, readBody } from './read-body.js'
import { isLong, sendLong } from './send-long.js'
import { hasStalled, LOOK_EVERY_MS } from './stalled-readers.js'
import { afterwards, inTurn } from './turns.js'
import { type Hanging, sendFaulty } from './wire-faults.js'
import { WriteBatch } from './write-batch.js'

/** Longer than the pools of common clients keep idle connections (browsers: 5 min), so that none writes to a closed one. */
const KEEP_ALIVE_MS: DurationMs = 6 * MINUTE_MS

/** How long open responses may take when the server stops. @source docs/cli.md, "Stopping" */
const STOP_GRACE_MS: DurationMs = 5 * SECOND_MS
const STOP_CHECK_MS: DurationMs = 20
/** Turns without a new connection after which all pending requests are read: one to accept, one to read, one to spare. */
const QUIET_TURNS = 3
/** Who connects after the last look at the queue is reset by the kernel: so nothing else is done between that and closing the door. */
const SHORT_TURN_MS: DurationMs = 0.1
/** Who has connected so shortly before is about to send: a balancer on a busy machine takes a while to. */
const FIRST_BYTES_MS: DurationMs = SECOND_MS / 2
/** Clients that keep connecting cannot delay a stop for longer than this. */
const LISTEN_ON_MS: DurationMs = SECOND_MS

/** Who was refused may go on sending for so long, so that it lives to read the refusal. */
const LINGER_MS: DurationMs = 3 * SECOND_MS

/** When it is asked whether somebody is left: most answers are sent before, and where the way there and back is long, the third says so. */
const ASK_AFTER_MS: readonly DurationMs[] = [100, 150, SECOND_MS]
/** Of who leaves in the middle of a slow body, the second piece after that tells. */
const SEEN_TO_HAVE_GONE_MS: DurationMs = 1.5 * SECOND_MS

/** Where the listener takes requests. */
export interface RequestHandlers {
  /** @param left gives what is aborted when the client has left, for what takes its time */
  service(request: ServiceRequest, left?: () => AbortSignal): PendingReply
  /** Waits until everything that replies may tell of is kept; undefined if it is. Never rejects. */
  settle(): Promise<void> | undefined
  /** What is sent in place of a reply, if it must not leave. */
  instead(reply: Reply): Reply | undefined
  /** Tells what became of replies, and which of those that were sent nobody may have read. @returns its position */
  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number
  /** Answers a request that the HTTP parser refused, of which only the connection is known. */
  refuse(code: ProblemCode, connection: Connection): PendingReply
  /** Whether a request is for the control plane, by its target. */
  isControl(target: string): boolean
  /** @param room that its body needs */
  control(request: IncomingMessage, response: ServerResponse, room: BodyRoom): void
  /** Tells the owner what went wrong in here. */
  warn(message: string): void
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** Stops accepting, lets open responses finish (`now`: cuts them), and resolves when the port is free. */
  stop(how: 'clean' | 'now'): Promise<void>
}

/** Opens the port. Rejects with a Failure: PORT_IN_USE, PORT_FORBIDDEN, HOST_UNAVAILABLE. */
export async function listen(host: string, port: number, front: RequestHandlers): Promise<Listener> {
  const connections = new Map<Socket, Connection>()
  const hanging: Hanging = new Set()
  const room = new BodyRoom()
  const batch = new WriteBatch({ settle: front.settle, send, sent: tellEnds })
  const lane = new PlainLane({
    keepAliveMs: KEEP_ALIVE_MS,
    takes: (target) => !stopping && !front.isControl(target),
    arrival: () => batch.arrival(),
    serve(connection, { head, body }) {
      const reply = ask(connection, head, body, hearFrom(connection))
      return reply instanceof Promise ? holding(body?.length ?? 0, reply) : reply
    },
    post: (connection, { reply, head, arrivedAt }, isLate) =>
      batch.put(outgoingOf(connection, undefined, head, reply, arrivedAt), isLate),
    handOver({ socket }, bytes) {
      readByNode.call(server, socket)
      // As if it had come just now.
      socket.emit('data', bytes)
      if (socket.isPaused()) socket.resume()
    },
  })
  const heard = new Heard()
  let stopping = false
  let accepted = 0

  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Node would answer a missing Host with an empty body; ours has the Error shape.
    requireHostHeader: false,
  })
  // A client that has closed its own half still reads, as `nc -N` does; Node would close the other half before a response that
  // takes its time. @source Node.js, lib/_http_server.js, socketOnEnd
  Object.assign(server, { httpAllowHalfOpen: true })
  const [readByNode = () => {}] = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket) => {
    const connection: Connection = {
      socket,
      id: ++accepted,
      heardUpTo: heard.accepted(),
      plain: undefined,
      decided: undefined,
      response: undefined,
      unread: undefined,
      taken: undefined,
      takenAt: 0,
      underWay: new Set(),
      isPipelined: false,
      told: [],
      isJustTold: false,
      closedAt: undefined,
      isCut: false,
      isRefused: false,
      awaited: new Set(),
      leaving: undefined,
      left: () => leftSignal(connection),
      goneAt: undefined,
    }
    connections.set(socket, connection)
    socket.once('close', () => {
      connections.delete(socket)
      connection.goneAt = systemClock.monotonic()
      connection.leaving?.abort()
      for (const outgoing of connection.underWay) tellEnd(outgoing, lossOf(outgoing))
    })
    // Node takes its own listener off a socket that it hands over; an error that nobody listens to ends the process.
    // What the client has not read when it closes a connection resets it. @source RFC 9293, section 3.6.1
    socket.on('error', () => tellUnread(connection))
    // A client that still waits cannot be told from one that has gone.
    socket.once('end', () => {
      connection.closedAt = systemClock.monotonic()
      if (connection.isJustTold) tellUnread(connection)
      for (const response of hanging) if (response.socket === socket) socket.destroy()
      findOut(connection)
    })
    lane.open(connection)
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket)
    // Gone before its request was read; or told that nothing more is read.
    if (connection === undefined || connection.isRefused) return
    if (connection.response !== undefined && !connection.response.writableFinished) connection.isPipelined = true
    connection.response = response
    const heardUpTo = hearFrom(connection)
    const isReading = hasBody(request)
    if (isReading) connection.unread = response
    if (stopping) response.shouldKeepAlive = false
    if (front.isControl(request.url ?? '/')) front.control(request, response, room)
    else if (request.headers.host === undefined && request.httpVersion === '1.1') {
      refuseInPlace(connection, response, 'bad_request')
    } else if (isReading)
      readBody(request, BODY_LIMIT_BYTES, room, (body) => serve(connection, request, response, body, heardUpTo))
    else serve(connection, request, response, undefined, heardUpTo)
  })
  // What is expected beyond a 100 is ignored, as RFC 9110, 10.1.1 lets a server do.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
    const connection = connections.get(socket)
    const problem = parserProblem(code)
    // Nothing is to be said to who has gone, nor to who has never said anything.
    if (connection === undefined || problem === undefined || socket.bytesRead === 0) socket.destroy()
    else refuseRest(connection, problem)
  })
  server.on('connect', (_request, socket: Socket) => {
    const connection = connections.get(socket)
    if (connection !== undefined) refuseRest(connection, 'bad_request')
  })

  /** A request has come: what its sender has heard, and was told, it has read. @returns what it had heard: a position */
  function hearFrom(connection: Connection): number {
    if (connection.told.length > 0) connection.told = []
    return Math.max(connection.heardUpTo, heard.upTo)
  }

  function ask(
    connection: Connection,
    { method, target, headers, rawHeaders }: Pick<ServiceRequest, 'method' | 'target' | 'headers' | 'rawHeaders'>,
    body: ServiceRequest['body'],
    heardUpTo: number,
  ): PendingReply {
    const bytes = typeof body === 'object' ? body.length : 0
    return front.service(
      {
        method,
        target,
        headers,
        rawHeaders,
        body: bytes > 0 && !room.make(bytes) ? 'no-room' : body,
        address: connection.socket.remoteAddress ?? 'unknown',
        connection: connection.isPipelined ? 0 : connection.id,
        heardUpTo,
      },
      connection.left,
    )
  }

  /** Keeps room for a body while the reply to its request is awaited. */
  function holding(bytes: Bytes, reply: Promise<Reply>): Promise<Reply> {
    if (bytes === 0) return reply
    room.lend(bytes)
    return reply.finally(() => room.giveBack(bytes))
  }

  function serve(
    connection: Connection,
    request: IncomingMessage,
    response: ServerResponse,
    body: ServiceRequest['body'],
    heardUpTo: number,
  ): void {
    // By now that of the next request may be coming.
    if (connection.unread === response) connection.unread = undefined
    // The service's Date is that of the space's clock.
    response.sendDate = false
    const bytes = typeof body === 'object' ? body.length : 0
    const { decided } = connection
    connection.decided = undefined
    const arrivedAt = decided?.arrivedAt ?? systemClock.monotonic()
    // Its end was seen before node:http read it, which waits for another request otherwise.
    if (decided !== undefined && connection.closedAt !== undefined) response.shouldKeepAlive = false
    try {
      const { method = 'GET', url: target = '/', headers, rawHeaders } = request
      const head = { method, target, headers, rawHeaders }
      const reply = decided === undefined ? ask(connection, head, body, heardUpTo) : decided.reply()
      if (reply instanceof Promise) {
        connection.awaited.add(response)
        if (connection.closedAt !== undefined) findOut(connection)
        holding(bytes, reply).then(
          (late) => {
            connection.awaited.delete(response)
            post(outgoingOf(connection, response, undefined, late, arrivedAt), response)
          },
          (error) => {
            connection.awaited.delete(response)
            failInside(connection, response, error)
          },
        )
      } else post(outgoingOf(connection, response, undefined, reply, arrivedAt), response)
    } catch (error) {
      failInside(connection, response, error)
    }
  }

  /** The service is not to throw; should it do so, that must not end the process. */
  function failInside(connection: Connection, response: ServerResponse, error: unknown): void {
    front.warn(`A request failed inside the sandbox: ${error instanceof Error ? error.stack : error}`)
    refuseInPlace(connection, response, 'internal_error')
  }

  function post(outgoing: Outgoing, response: ServerResponse): void {
    const { reply } = outgoing
    if (reply.delayMs === 0) {
      batch.put(outgoing)
      return
    }
    // Whoever leaves before is told of as soon as its connection closes.
    outgoing.connection.underWay.add(outgoing)
    const waitsSince = systemClock.monotonic()
    outgoing.waitsSince = waitsSince
    const timer = setTimeout(() => {
      if (!outgoing.connection.underWay.delete(outgoing)) return
      outgoing.waitedMs = systemClock.monotonic() - waitsSince
      outgoing.waitsSince = undefined
      batch.put(outgoing)
    }, reply.delayMs)
    response.once('close', () => clearTimeout(timer))
    if (outgoing.connection.closedAt !== undefined) findOut(outgoing.connection)
  }

  /**
   * Finds out whether a client that has closed its half while an answer is held back, or awaited, still waits for it: it
   * is sent an interim response. Where nobody is left, the system learns so from the first and says so to the
   * second, and the connection closes. @source RFC 9110, section 15.2: clients read any number of them
   */
  function findOut({ underWay, awaited }: Connection): void {
    const ask = () => {
      const heldBack = [...underWay].flatMap(({ waitsSince, response }) =>
        waitsSince === undefined || response === undefined ? [] : [response],
      )
      const response = [...awaited, ...heldBack].find(
        ({ socket, headersSent, req }) => socket !== null && !headersSent && req.httpVersion === '1.1',
      )
      response?.writeProcessing()
    }
    for (const after of ASK_AFTER_MS) setTimeout(ask, after).unref()
  }

  function send(outgoing: Outgoing): void {
    const { response } = outgoing
    const reply = front.instead(outgoing.reply) ?? outgoing.reply
    if (response === undefined) {
      lane.send(outgoing, reply, stopping)
      return
    }
    try {
      transmit(response, reply)
    } catch (error) {
      sendFailure(outgoing.reply, response, error)
    }
  }

  function transmit(response: ServerResponse, reply: Reply): void {
    const { req: request } = response
    if (reply.fault !== undefined) {
      sendFaulty(reply.fault, request, response, reply, hanging)
      return
    }
    if (stopping) response.shouldKeepAlive = false
    response.writeHead(reply.status, reply.headers)
    if (request.method === 'HEAD') response.end()
    else if (isLong(reply)) sendLong(response, reply, (error) => sendFailure(reply, response, error))
    else if (reply.binary === undefined) response.end(reply.body)
    else response.end(reply.binary, 'latin1')
  }

  /** Says at once what became of the replies of a batch, and of those that are not handed over whole, later. */
  function tellEnds(sent: readonly Outgoing[], isAtEnd: boolean): void {
    const now = systemClock.monotonic()
    const ends: EndedExchange[] = []
    const telling: Outgoing[] = []
    for (const outgoing of sent) {
      const { connection, response, reply } = outgoing
      const { socket } = connection
      if (socket.destroyed) push(ends, outgoing, lossOf(outgoing), now)
      else if (response === undefined ? socket.writableLength === 0 : response.writableFinished) {
        push(ends, outgoing, 'sent', now)
        if (isTelling(reply)) telling.push(outgoing)
      } else {
        // Whoever hangs is kept waiting; of all others something is on its way.
        if (reply.fault === 'hang') outgoing.waitsSince = now
        else outgoing.beganAt = now
        connection.underWay.add(outgoing)
        if (response === undefined) lane.whenSent(connection, () => tellEnd(outgoing, 'sent'))
        else response.once('finish', () => tellEnd(outgoing, 'sent'))
      }
    }
    const position = tell(ends)
    if (telling.length > 0) watchReaders(telling, position, now, isAtEnd)
    for (const { connection } of sent) lane.goOn(connection)
  }

  /** Who had gone before its answer left is seen to have gone by the end of the turn after. */
  function watchReaders(telling: readonly Outgoing[], position: number, now: number, isAtEnd: boolean): void {
    heard.sent(position, now, isAtEnd)
    for (const { connection, reply } of telling) {
      if (reply.exchange !== undefined) connection.told.push(reply.exchange)
      connection.isJustTold = true
      // Gone, or only done with sending: nobody knows.
      if (connection.socket.readableEnded) tellUnread(connection)
    }
    const see = () => {
      for (const { connection } of telling) connection.isJustTold = false
    }
    setImmediate(isAtEnd ? see : () => setImmediate(see))
  }

  function tellUnread(connection: Connection): void {
    const { told } = connection
    if (told.length === 0) return
    connection.told = []
    front.ended([], told)
  }

  function tellEnd(outgoing: Outgoing, how: AnswerEnd): void {
    if (!outgoing.connection.underWay.delete(outgoing)) return
    const now = systemClock.monotonic()
    const ends: EndedExchange[] = []
    push(ends, outgoing, how, now)
    const position = tell(ends)
    if (how === 'sent' && isTelling(outgoing.reply)) watchReaders([outgoing], position, now, false)
    lane.goOn(outgoing.connection)
  }

  function push(ends: EndedExchange[], outgoing: Outgoing, how: AnswerEnd, now: number): void {
    const { connection, reply } = outgoing
    const instead = front.instead(reply)
    const isAnswered = how === 'sent' || hasBegun(outgoing)
    const at = how === 'left' ? leftAt(outgoing, now) : now
    const end = { how, times: outgoing, now: at, isAnswered, connection: connection.id, instead }
    const ended = endedExchange(reply, end)
    if (ended !== undefined) ends.push(ended)
  }

  function tell(ends: readonly EndedExchange[]): number {
    return ends.length === 0 ? 0 : front.ended(ends)
  }

  /** A reply that node:http refuses to send must cost nobody else's answer. */
  function sendFailure(reply: Reply, response: ServerResponse, error: unknown): void {
    const { req: request } = response
    const why = messageOf(error)
    front.warn(`The answer ${reply.status} to ${request.method} ${request.url} could not be sent: ${why}`)
    // What it has begun with cannot be taken back.
    if (response.headersSent) {
      cut(request.socket)
      return
    }
    // It may have been set by a header before the one that was refused.
    response.chunkedEncoding = false
    const { status, headers, body } = failedReply(reply)
    response.writeHead(status, headers)
    response.end(textOf(body))
  }

  /** Refuses what is no request, or has broken off. */
  function refuseRest(connection: Connection, code: ProblemCode): void {
    // The parser refuses each piece that comes after what it could not read.
    if (connection.isRefused) return
    connection.isRefused = true
    const { response, unread } = connection
    if (response === undefined) close(connection, code)
    else if (response === unread && !response.req.complete && !response.headersSent)
      refuseInPlace(connection, response, code)
    else {
      afterwards(response, () => {
        // Nothing more is to be said after a last answer, nor of a body that breaks off when its request was answered.
        const isSaid = !response.shouldKeepAlive || !response.req.complete
        close(connection, isSaid ? undefined : code)
      })
    }
  }

  /** Refuses the last request that came. */
  function refuseInPlace(connection: Connection, response: ServerResponse, code: ProblemCode): void {
    connection.isRefused = true
    inTurn(response, () => {
      // Refused for two reasons.
      if (response.socket === null) return
      response.detachSocket(connection.socket)
      close(connection, code)
    })
  }

  /** Ends a connection, with a last word if there is one. */
  function close(connection: Connection, code: ProblemCode | undefined): void {
    const { socket } = connection
    if (!socket.writable) return
    if (code === undefined) socket.end()
    else {
      const lastWord = (reply: Reply) => {
        if (!socket.writable) return
        socket.end(rawResponse(reply.status, reply.headers, textOf(reply.body)))
        const now = systemClock.monotonic()
        const times = { arrivedAt: now, waitedMs: 0, waitsSince: undefined, beganAt: undefined }
        const ended = endedExchange(reply, { how: 'sent', times, now, isAnswered: true, connection: connection.id })
        if (ended !== undefined) front.ended([ended])
      }
      const reply = front.refuse(code, connection)
      if (reply instanceof Promise) void reply.then(lastWord)
      else lastWord(reply)
    }
    // Whatever else the client sends is not read as a request.
    socket.resume()
    const lingering = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(lingering))
  }

  function cut(socket: Socket): void {
    const connection = connections.get(socket)
    if (connection !== undefined) connection.isCut = true
    socket.destroy()
  }

  function cutHanging(): void {
    for (const response of hanging) if (response.socket !== null) cut(response.socket)
  }

  /** Node would close connections whose request has arrived but is not read yet, and it accepts one per turn. */
  async function readWhatHasCome(): Promise<void> {
    let begun = systemClock.monotonic()
    const until = begun + LISTEN_ON_MS
    for (let quiet = 0; begun < until; ) {
      const before = accepted
      await new Promise((resolve) => setImmediate(resolve))
      const now = systemClock.monotonic()
      quiet = accepted > before ? 0 : quiet + 1
      if (quiet >= QUIET_TURNS && now - begun < SHORT_TURN_MS) return
      begun = now
    }
  }

  function cutIdle(): void {
    const now = systemClock.monotonic()
    for (const connection of connections.values()) {
      if (lane.isForgotten(connection, now)) connection.socket.destroy()
      if (!hasStalled(connection, now)) continue
      front.warn('A client took nothing of its answer for 30 s; its connection was cut.')
      cut(connection.socket)
    }
  }

  async function stop(how: 'clean' | 'now'): Promise<void> {
    stopping = true
    if (how === 'clean') await readWhatHasCome()
    // Not server.close(), which would close idle connections at once.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()))
    if (how === 'now') for (const socket of connections.keys()) cut(socket)
    const giveUpAt = systemClock.monotonic() + STOP_GRACE_MS
    const closeIdle = () => {
      cutHanging()
      const now = systemClock.monotonic()
      let isSending = false
      for (const socket of connections.keys()) {
        if (now > giveUpAt) cut(socket)
        else if (socket.writableLength > 0) isSending = true
      }
      // Node considers a connection idle once the response is handed over, even if it is not sent yet.
      if (isSending) return
      server.closeIdleConnections()
      for (const { plain, socket } of connections.values()) {
        const isAboutToSend = socket.bytesRead === 0 && plain !== undefined && now - plain.quietSince < FIRST_BYTES_MS
        if (plain?.isAnswering === false && !isAboutToSend) socket.destroy()
      }
    }
    closeIdle()
    const timer = setInterval(closeIdle, STOP_CHECK_MS)
    await closed
    clearInterval(timer)
    clearInterval(looking)
  }

  const address = await openPort(server, host, port)
  const looking = setInterval(cutIdle, LOOK_EVERY_MS).unref()
  return { host: address.address, port: address.port, stop }
}

function outgoingOf(
  connection: Connection,
  response: ServerResponse | undefined,
  head: string | undefined,
  reply: Reply,
  arrivedAt: number,
): Outgoing {
  return { connection, response, head, reply, arrivedAt, waitedMs: 0, waitsSince: undefined, beganAt: undefined }
}

/** Whether a client may have to wait for something after it, so that it matters whether it was read. */
function isTelling({ status, exchange }: Reply): boolean {
  return status >= 400 && exchange !== undefined
}

/** When a client left: when it closed its half, if it was seen so soon afterwards that nobody is left. */
function leftAt({ connection, arrivedAt }: Outgoing, now: number): number {
  const { closedAt, goneAt = now } = connection
  return closedAt === undefined || goneAt - closedAt > SEEN_TO_HAVE_GONE_MS ? goneAt : Math.max(arrivedAt, closedAt)
}

/** What is aborted when a client has left; made for the first who asks. */
function leftSignal(connection: Connection): AbortSignal {
  connection.leaving ??= new AbortController()
  if (connection.goneAt !== undefined) connection.leaving.abort()
  return connection.leaving.signal
}

/** Whether something of a reply had been handed over before its connection was gone. What is malformed is not written by node:http. */
function hasBegun({ response, reply: { fault }, beganAt }: Outgoing): boolean {
  return beganAt !== undefined && (response?.headersSent !== false || fault === 'malformed-chunk')
}

/** What it is to a reply that its connection is gone. Some faults cut it, as they were asked to. */
function lossOf({ connection, reply: { fault } }: Outgoing): 'cut' | 'left' {
  const isFaulty = fault === 'connection-reset' || fault === 'empty-response' || fault === 'malformed-chunk'
  return connection.isCut || isFaulty ? 'cut' : 'left'
}

/** @returns undefined for an error that is the connection's, not the parser's */
function parserProblem(code: string): ProblemCode | undefined {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout'
    default:
      return code.startsWith('HPE_') ? 'bad_request' : undefined
  }
}
