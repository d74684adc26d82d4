import type { Document, Operation, Reply } from './protocol.js'

/**
 * What was written is on the page already, as it was sent, so only what the store has added crosses back: `tear` leaves
 * that, and `fill` makes the document of it again.
 */
export function tear(operation: Operation, reply: Reply): Reply {
  if (!reply.ok || !('doc' in operation)) return reply
  const { _ts, _etag } = reply.value as Document
  return { ok: true, value: { _ts, _etag } }
}

export function fill(operation: Operation, reply: Reply): Reply {
  if (!reply.ok || !('doc' in operation)) return reply
  return { ok: true, value: Object.assign(operation.doc, reply.value) }
}
