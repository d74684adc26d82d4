import type { Page, Piece, Reply } from '../protocol.js'

/** About how many bytes may cross in one message: taking it in must not hold up the page. */
const MESSAGE = 300_000

/** How many documents are looked at to guess the size of all. */
const SAMPLE = 12

type Cut = Omit<Piece, 'mayfly' | 'call'>

/** Takes the long lists out of replies, in pieces that are sent ahead of them. */
export function cut(replies: Reply[]): { replies: Reply[]; pieces: Iterable<Cut> } {
  const long = replies.flatMap((reply, at) => {
    const list = reply.ok ? listOf(reply.value) : undefined
    const size = list ? fitting(list) : 0
    return list && list.length > size ? [{ at, list, size }] : []
  })
  if (long.length === 0) return { replies, pieces: [] }
  const shortened = [...replies]
  for (const { at } of long) shortened[at] = emptied(replies[at] as Reply & { ok: true })
  return { replies: shortened, pieces: piecesOf(long) }
}

function* piecesOf(long: { at: number; list: unknown[]; size: number }[]): Generator<Cut> {
  for (const { at, list, size } of long) {
    for (let from = 0; from < list.length; from += size) yield { reply: at, items: list.slice(from, from + size) }
  }
}

function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value
  return isPage(value) ? value.items : undefined
}

/** A document may have items too, but it has an `_etag`. */
function isPage(value: unknown): value is Page {
  return typeof value === 'object' && value !== null && 'items' in value && !('_etag' in value)
}

function emptied({ value }: Reply & { ok: true }): Reply {
  return { ok: true, value: Array.isArray(value) ? [] : { ...(value as Page), items: [] } }
}

/** How many of a list's documents make one message, as far as a few of them tell. */
function fitting(list: unknown[]): number {
  const step = Math.max(1, Math.floor(list.length / SAMPLE))
  let sum = 0
  let seen = 0
  for (let at = 0; at < list.length; at += step) {
    sum += weight(list[at])
    seen++
  }
  return Math.max(1, Math.floor(MESSAGE / Math.max(1, sum / Math.max(1, seen))))
}

/** About how many bytes a value takes. What lies deep, or is not plain, is guessed. */
function weight(value: unknown, depth = 4): number {
  if (typeof value === 'string') return value.length + 8
  if (typeof value !== 'object' || value === null || depth === 0) return 8
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength
  if (value instanceof Map || value instanceof Set) return 64 * value.size
  let sum = 16
  for (const [field, inner] of Object.entries(value)) sum += field.length + weight(inner, depth - 1)
  return sum
}
