import type { Outgoing } from './connection.js'
import { isLong } from './replies.js'

/**
 * Renders a reply, and holds it back at its socket: when it is sent, nothing is left to do but the system call. Faults
 * and long replies are not held back. @returns sends it
 */
export function holdBack(outgoing: Outgoing): () => void {
  if (outgoing.reply.fault !== undefined || isLong(outgoing.reply)) return () => outgoing.write()
  const { socket } = outgoing.connection
  const { _write, _writev } = socket
  let pass = () => {}
  // Told to the stream in the next tick, as every write is: the log has the response before its connection ends.
  const doneLater = (done: (error?: Error | null) => void) => (error?: Error | null) => {
    outgoing.isTaken = !error
    process.nextTick(done, error)
  }
  socket._write = (chunk, encoding, done) => {
    pass = () => _write.call(socket, chunk, encoding, doneLater(done))
  }
  socket._writev = (chunks, done) => {
    pass = () => _writev?.call(socket, chunks, doneLater(done))
  }
  outgoing.write()
  return () => {
    Object.assign(socket, { _write, _writev })
    if (!socket.destroyed) pass()
  }
}
