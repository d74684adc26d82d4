import { Alarm } from '../alarm.js'
import type { EngineEvent, Horizon, Operation, Question, Reply } from '../protocol.js'
import type { Heard } from './attendance.js'
import type { Clock } from './clock.js'
import { pieces } from './cut.js'
import type { Entry } from './journal.js'
import type { Setting } from './life.js'
import type { Seen } from './listen.js'
import type { Shelf } from './shelf.js'
import { nextTask } from './task.js'
import { Views } from './views.js'

/** When the journal could not be read, this many milliseconds pass before the next attempt. */
const RETRY = 1000

export interface LookoutTools {
  tab: string
  clock: Clock
  steady: () => number
  perform: (operations: Operation[]) => Promise<Reply[]>
  send: (event: EngineEvent) => void
}

/** Looks out on one collection for this tab: keeps its live queries up to date, and tells of changes. */
export class Lookout {
  readonly #collection: string
  readonly #tools: LookoutTools
  readonly #views: Views
  readonly #alarm: Alarm
  #attention: 'none' | 'results' | 'changes' = 'none'
  #isFollowing = false
  /** The journal's last entry that was taken in. */
  #last = 0
  /** The last entry that those who listen for changes were told of, or must not be. */
  #told = 0
  #setting: Setting | undefined
  /** When the next document of the collection expires, where every change is wanted. */
  #next = Infinity
  /** The last entry that was told of since the journal was asked for; one that was undone has never come to be. */
  #heard = 0
  #isCatchingUp = false
  /** How often this tab has left the list. */
  #departures = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(collection: string, tools: LookoutTools) {
    this.#collection = collection
    this.#tools = tools
    this.#views = new Views(collection, {
      ...tools,
      found: ({ setting, entry }) => {
        this.#setting = setting
        return entry >= this.#last
      },
      told: () => this.#wind(),
    })
    this.#alarm = new Alarm(() => void this.#catchUp(this.#due()))
  }

  /** Whether the collection has to be told that this tab listens, or listens for more. */
  needsToJoin(isFollowing: boolean): boolean {
    return this.#attention === 'none' || (isFollowing && this.#attention !== 'changes')
  }

  get hasViews(): boolean {
    return !this.#views.isEmpty
  }

  get isFollowing(): boolean {
    return this.#isFollowing
  }

  get isMember(): boolean {
    return this.#attention !== 'none'
  }

  watch(key: number, question: Question, seen: Seen): void {
    const isFirst = this.#join(seen, false)
    this.#views.add(key, question, seen)
    if (isFirst) void this.#catchUp()
    this.#wind()
  }

  unwatch(key: number): void {
    this.#views.delete(key)
  }

  follow(heard: Heard): void {
    this.#isFollowing = true
    if (!this.#join(heard, true)) this.#next = Math.min(this.#next, heard.next ?? Infinity)
    else this.#next = heard.next ?? Infinity
    const [first] = heard.entries
    this.#told = Math.max(this.#told, first ? first.number - 1 : heard.entry)
    for (const entry of heard.entries) this.#announce(entry)
    this.#tools.send({ collection: this.#collection, changes: [], entry: this.#told })
    // What was committed behind it may have been taken in already, for live queries: it has to be told now.
    this.#last = Math.min(this.#last, heard.entry)
    void this.#catchUp()
    this.#wind()
  }

  unfollow(): void {
    this.#isFollowing = false
    this.#attention = 'results'
  }

  /** A transaction of this tab has ended: what it has changed, and what it has seen that others have. */
  committed({ entry, setting, due, untold }: Shelf, edge: Horizon): void {
    if (!this.isMember) return
    // What was deleted could not be noted yet.
    if (untold) this.#views.doubt()
    this.#setting = setting
    if (entry && this.#isFollowing) this.#next = Math.min(this.#next, due)
    if (entry?.number === this.#last + 1) this.#take([entry], edge)
    else if (!Object.hasOwn(setting.audience, this.#tools.tab)) void this.#catchUp()
    this.hear(setting.entry)
    this.#wind()
  }

  /** Somebody has seen that there is an entry of this number, or is about to commit it. */
  hear(entry: number): void {
    if (!this.isMember || entry <= this.#last) return
    this.#heard = Math.max(this.#heard, entry)
    void this.#catchUp()
  }

  /** Something has happened of which no entry tells. */
  doubt(): void {
    void nextTask().then(() => this.#catchUp())
  }

  /** The clock may have moved while a timer slept. */
  remind(): void {
    if (this.isMember && this.#due() <= this.#tools.clock.now()) void this.#catchUp(this.#due())
  }

  /** This tab is on the list no more. */
  stop(): void {
    this.#alarm.stop()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#departures++
    this.#attention = 'none'
    this.#isFollowing = false
    this.#told = 0
    this.#views.clear()
  }

  #join({ entry, setting }: Heard, isFollowing: boolean): boolean {
    const isFirst = !this.isMember
    if (isFirst) this.#last = entry
    if (isFirst || isFollowing) this.#attention = isFollowing ? 'changes' : 'results'
    this.#setting = setting
    return isFirst
  }

  /** Reads what has happened since the last entry, and what has expired by now. */
  async #catchUp(due: number | null = null): Promise<void> {
    if (this.#isCatchingUp || !this.isMember) return
    this.#isCatchingUp = true
    this.#heard = 0
    const departures = this.#departures
    const isOver = () => departures !== this.#departures
    try {
      // Where every change is wanted, what expires is announced by whichever tab is first.
      const collection = this.#collection
      if (due !== null && this.#isFollowing) await this.#ask({ verb: 'bury', collection })
      const heard = isOver()
        ? undefined
        : ((await this.#ask({ verb: 'heed', collection, since: this.#last, due })) as Heard)
      this.#isCatchingUp = false
      // It was asked for somebody who has left; who has come since has to ask anew.
      if (!heard || isOver()) return void this.#catchUp()
      this.#listenTo(heard)
      this.#wind()
      // What was heard meanwhile may be newer than what was read.
      if (this.#heard > this.#last) void this.#catchUp()
    } catch {
      this.#isCatchingUp = false
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        void this.#catchUp()
      }, RETRY)
    }
  }

  async #ask(operation: Operation): Promise<unknown> {
    const [reply] = await this.#tools.perform([operation])
    if (reply?.ok) return reply.value
    throw new Error('The database refused.', { cause: reply?.failure })
  }

  #listenTo({ entries, entry, isGap, edge, setting, next }: Heard): void {
    if (!this.isMember) return
    const isListed = Object.hasOwn(setting.audience, this.#tools.tab)
    if (!isListed) {
      // The list was lost, with the database perhaps: whoever listens has to say so again.
      this.stop()
      return this.#tools.send({ isNew: true, collection: this.#collection })
    }
    if (isGap) this.#views.doubt()
    this.#setting = setting
    this.#next = next ?? Infinity
    this.#take(
      entries.filter(({ number }) => number > this.#last),
      edge,
    )
    this.#last = Math.max(this.#last, entry)
    this.#views.expire(edge)
  }

  #take(entries: Entry[], edge: Horizon): void {
    for (const entry of entries) {
      this.#last = entry.number
      this.#views.take(entry, edge)
      this.#announce(entry)
    }
  }

  #announce({ number, changes }: Entry): void {
    if (!this.#isFollowing || number <= this.#told) return
    this.#told = number
    const told = changes.map(({ type, id, record }) => (record ? { type, id, doc: record.doc } : { type, id }))
    for (const part of pieces(told)) this.#tools.send({ collection: this.#collection, changes: part, entry: number })
  }

  /** When the next document expires that anybody looks at. */
  #due(): number {
    const next = this.#isFollowing ? this.#next : Infinity
    return this.#setting ? Math.min(next, this.#views.nextExpiry(this.#setting)) : next
  }

  #wind(): void {
    const due = this.isMember ? this.#due() : Infinity
    const { clock } = this.#tools
    const now = clock.now()
    this.#alarm.stop()
    if (due < Infinity) this.#alarm.set(due <= now ? 0 : due - now + clock.lag)
  }
}
