import type { Call, History, Seen } from './history.js'

/** No clock is ahead of the true one by more, in milliseconds. */
export const AHEAD = 3000

/** Clocks of different processes agree to this many seconds. */
const SLACK = 0.01

/** The default of the collections, in seconds. */
const DEFAULTS: Record<string, number> = { items: -1, others: 12 }

interface Write {
  v: string | null
  begin: number
  end: number
  isDone: boolean
  call: Call
  /** When it expires at the earliest; unknown is -Infinity. */
  expiry: number
}

interface Read {
  seen: Seen
  call: Call
}

export interface Violation {
  key: string
  sentence: string
  history: string[]
}

function expiryOf({ key, ts, ttl }: Seen): number {
  const lifetime = ttl ?? DEFAULTS[key.split('/')[0]!]!
  return lifetime === -1 || ts === undefined ? Infinity : ts + lifetime
}

/**
 * Every document is a register with values that are written once. What was acknowledged is seen by all later reads until
 * it is overwritten, deleted or expired; what was refused is never seen; of what nobody knows, all of it is seen or nothing.
 */
export function check(history: History): Violation[] {
  const calls = [...history.calls.values()]
  const writes = new Map<string, Write[]>()
  const reads = new Map<string, Read[]>()
  const violations: Violation[] = []
  const listOf = <T>(map: Map<string, T[]>, key: string) => {
    if (!map.has(key)) map.set(key, [])
    return map.get(key)!
  }
  seeWhatIsKnown(calls)
  for (const call of calls) {
    for (const { key, v, deletes, ttl, isKept } of call.targets) {
      const seen = call.seen.find((one) => one.key === key)
      if (call.kind === 'read') {
        if (call.outcome === 'ok') listOf(reads, key).push({ seen: seen!, call })
        continue
      }
      const isDone = call.outcome === 'ok'
      const ts = history.earliest(call.beginTime, call.endTime)
      const expiry = seen
        ? expiryOf(seen)
        : isKept
          ? -Infinity
          : expiryOf({ key, v: null, ts, ...(ttl ? { ttl } : {}) })
      listOf(writes, key).push({ v: deletes ? null : v!, begin: call.begin, end: call.end, isDone, call, expiry })
    }
  }
  for (const [key, list] of reads) {
    const written = writes.get(key) ?? []
    for (const one of list) {
      const sentence = judge(one, written, list, history)
      if (sentence) violations.push({ key, sentence, history: tell(key, calls) })
    }
  }
  return violations
}

/** A call of which nobody knew is done, all of it, when any part of it was seen. */
function seeWhatIsKnown(calls: Call[]): void {
  const byValue = new Map(calls.flatMap((call) => call.targets.map(({ v }) => [v, call] as const)))
  for (const read of calls) {
    if (read.kind !== 'read' || read.outcome !== 'ok') continue
    for (const { v } of read.seen) {
      const call = v === null ? undefined : byValue.get(v)
      if (call?.kind !== 'write' || !['unknown', 'seen'].includes(call.outcome)) continue
      // Parts of many may be there without the others.
      if (call.verb === 'upsertMany' || call.verb === 'deleteMany') continue
      call.outcome = 'seen'
      call.end = Math.min(call.end, read.end)
    }
  }
  for (const call of calls) if (call.outcome === 'seen') call.outcome = 'ok'
}

function judge({ seen, call }: Read, writes: Write[], reads: Read[], history: History): string | undefined {
  if (seen.torn) return `is torn: ${JSON.stringify(seen.torn).slice(0, 300)}`
  return seen.v === null ? judgeAbsence(call, writes, history) : judgeValue(seen, call, writes, reads, history)
}

function judgeValue(seen: Seen, call: Call, writes: Write[], reads: Read[], history: History): string | undefined {
  const write = writes.find(({ v }) => v === seen.v)
  if (!write) return `${call.op} has seen ${seen.v}, which nobody wrote`
  if (!write.isDone && write.call.outcome !== 'unknown') return `${call.op} has seen ${seen.v}, which was refused`
  if (write.begin > call.end) return `${call.op} has seen ${seen.v} before it was written`
  for (const later of writes) {
    const isBetween = write.end < later.begin && later.end < call.begin
    if (later.isDone && isBetween) return `${call.op} has seen ${seen.v}, and not the later ${later.v ?? 'deletion'}`
  }
  for (const earlier of reads) {
    const isBetween = write.end < earlier.call.begin && earlier.call.end < call.begin
    if (isBetween && earlier.seen.v === null)
      return `${call.op} has seen ${seen.v} after ${earlier.call.op} saw it gone`
  }
  const now = history.earliest(call.beginTime, call.endTime)
  const expiry = expiryOf(seen)
  if (now > expiry + SLACK) return `${call.op} has seen ${seen.v}, which expired ${now - expiry} s ago`
  return undefined
}

/** A document is absent when it never was, or was deleted, or has expired. */
function judgeAbsence(call: Call, writes: Write[], history: History): string | undefined {
  const latest = (call.endTime + AHEAD) / 1000 + SLACK
  for (const write of writes) {
    if (write.v === null || !write.isDone || !(write.end < call.begin) || write.expiry <= latest) continue
    const isExplained = writes.some((other) => {
      const isAfter = other !== write && other.end > write.begin && other.begin < call.end
      const isRemoval = other.v === null || other.expiry <= latest
      return isAfter && isRemoval && (other.isDone || other.call.outcome === 'unknown')
    })
    if (!isExplained) return `${call.op} misses ${write.v} at ${history.earliest(call.beginTime, call.endTime)}`
  }
  return undefined
}

function tell(key: string, calls: Call[]): string[] {
  return calls
    .filter(({ targets }) => targets.some((target) => target.key === key))
    .map(({ op, verb, begin, end, beginTime, outcome, seen, targets, message }) => {
      const own = targets.find((target) => target.key === key)!
      const saw = seen.find((one) => one.key === key)
      const what = own.v ? (own.deletes ? 'deletes' : `writes ${own.v}`) : `sees ${saw?.v}`
      const life = saw?.ts ? `, _ts ${saw.ts}, ttl ${saw.ttl ?? 'inherited'}` : ''
      const text = outcome === 'ok' ? '' : ` (${message ?? ''})`
      return `${begin}–${end} at ${beginTime / 1000}: ${op} ${verb} ${what}, ${outcome}${text}${life}`
    })
}
