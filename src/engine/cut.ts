import type { Page, Piece, Reply } from '../protocol.js'
import { MESSAGE, weight } from '../weight.js'

/** How many values are looked at to guess the size of all. */
const SAMPLE = 12

/** What is sent ahead of the answer to a call. */
export type Ahead = Omit<Piece, 'mayfly' | 'call'>

/** Cuts replies so that no message is large: their long lists go ahead in pieces, and so do all replies but the last. */
export function cut(replies: Reply[]): { ahead: Ahead[]; last: Reply[] } {
  const ahead: Ahead[] = []
  const shortened = replies.map((reply, at) => {
    const list = reply.ok ? listOf(reply.value) : undefined
    const size = list ? fitting(list) : 0
    if (!list || list.length <= size) return reply
    for (const items of groups(list, size)) ahead.push({ reply: at, items })
    return emptied(reply as Reply & { ok: true })
  })
  const parts = groups(shortened, fitting(shortened))
  const last = parts.pop() ?? []
  for (const part of parts) ahead.push({ replies: part })
  return { ahead, last }
}

/** Parts of a list, none of which makes a large message. */
export function pieces<T>(list: T[]): T[][] {
  return groups(list, fitting(list))
}

function groups<T>(list: T[], size: number): T[][] {
  const all: T[][] = []
  for (let from = 0; from < list.length; from += size) all.push(list.slice(from, from + size))
  return all
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

/** How many of a list's values make one message, as far as a few of them tell. */
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
