import type { Horizon, Joining, Operation, Reply } from '../protocol.js'
import type { Heard } from './attendance.js'
import { NOTHING } from './life.js'
import { Lookout } from './lookout.js'
import type { LookoutTools } from './lookout.js'
import type { Seen } from './listen.js'
import type { Presence } from './presence.js'
import type { Shelf } from './shelf.js'

/** So many milliseconds after the opening it is seen to that nobody is on a list who is not there. */
const SOON = 1000

/** The live queries and the listeners of this tab, by collection. */
export class Audience {
  readonly #tools: Omit<LookoutTools, 'tab'>
  readonly #presence: Presence
  readonly #lookouts = new Map<string, Lookout>()
  /** What had expired in each collection when the store was opened, and what of that had been announced. */
  readonly #found = new Map<string, { opened: Horizon; told: Horizon }>()
  readonly #timers = new Set<ReturnType<typeof setTimeout>>()

  constructor(presence: Presence, tools: Omit<LookoutTools, 'tab'>) {
    this.#presence = presence
    this.#tools = tools
  }

  /** Takes note of how a collection was found when the store was opened. */
  opened({ shape, edge, setting }: Shelf): void {
    if (!this.#found.has(shape.name)) this.#found.set(shape.name, { opened: edge, told: setting.told })
    const tabs = Object.keys(setting.audience)
    if (tabs.length === 0) return
    // Not at once: this tab may be one of them, with a new worker that goes on where the journal tells.
    this.#timers.add(setTimeout(() => void this.#dismiss(shape.name, tabs), SOON))
  }

  /** Adds to operations what the collections have to know of this tab. */
  async introduce(operations: Operation[]): Promise<Operation[]> {
    if (!operations.some((operation) => this.#mustJoin(operation))) return operations
    const others = await this.#presence.others()
    return operations.map((operation) => {
      if (!this.#mustJoin(operation)) return operation
      const joining: Joining = {
        tab: this.#presence.tab,
        isFollowing: operation.verb === 'follow' || (this.#lookouts.get(operation.collection)?.isFollowing ?? false),
        ...(others ? { others } : {}),
        ...(this.#found.get(operation.collection) ?? { opened: NOTHING, told: NOTHING }),
      }
      return { ...operation, joining } as Operation
    })
  }

  /** Begins and ends what was asked, now that the collections know of it. */
  attend(operations: Operation[], replies: Reply[]): Reply[] {
    const answers = replies.map((reply, at): Reply => {
      const operation = operations[at]!
      if (!isListening(operation)) return reply
      const isEnd = operation.verb === 'unwatch' || operation.verb === 'unfollow'
      // Whoever stops need not be told that the database refused.
      if (!reply.ok && !isEnd) return reply
      this.#begin(operation, reply.ok ? reply.value : undefined)
      return { ok: true, value: undefined }
    })
    // Not before all have begun: one may take the place of another.
    for (const { verb, collection } of operations) {
      if (verb === 'unwatch' || verb === 'unfollow') this.#leave(collection, verb === 'unfollow')
    }
    return answers
  }

  committed(shelves: Shelf[]): void {
    for (const shelf of shelves) this.#lookouts.get(shelf.shape.name)?.committed(shelf, shelf.edge)
  }

  hear(collection: string, entry: number): void {
    this.#lookouts.get(collection)?.hear(entry)
  }

  /** The connection is gone, and the database perhaps with it. */
  doubt(): void {
    for (const lookout of this.#lookouts.values()) lookout.doubt()
  }

  /** Whether anybody listens. */
  get isAttended(): boolean {
    return [...this.#lookouts.values()].some((lookout) => lookout.isMember)
  }

  remind(): void {
    for (const lookout of this.#lookouts.values()) lookout.remind()
  }

  /** Ends everything; gives back what the collections have to be told. */
  stop(): Operation[] {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    const members = [...this.#lookouts].filter(([, lookout]) => lookout.isMember)
    for (const lookout of this.#lookouts.values()) lookout.stop()
    return members.map(([collection]) => ({ verb: 'leave', collection, tab: this.#presence.tab, keeps: false }))
  }

  #begin(operation: Listening, value: unknown): void {
    const { collection } = operation
    const lookout = this.#lookout(collection)
    if (operation.verb === 'watch') lookout.watch(operation.key, operation.question, value as Seen)
    else if (operation.verb === 'follow') lookout.follow(value as Heard)
    else if (operation.verb === 'unwatch') lookout.unwatch(operation.key)
    else lookout.unfollow()
  }

  /** With the last that listens, all work ends. */
  #leave(collection: string, wantsLess: boolean): void {
    const lookout = this.#lookout(collection)
    const keeps = lookout.hasViews || lookout.isFollowing
    if (!lookout.isMember || (keeps && (!wantsLess || lookout.isFollowing))) return
    if (!keeps) lookout.stop()
    void this.#tools.perform([{ verb: 'leave', collection, tab: this.#presence.tab, keeps }])
  }

  /** A tab that was simply closed could not say so, and a journal would be kept for it for ever. */
  async #dismiss(collection: string, tabs: string[]): Promise<void> {
    const others = await this.#presence.others()
    const gone = others && tabs.filter((tab) => tab !== this.#presence.tab && !others.includes(tab))
    if (!gone || gone.length === 0) return
    await this.#tools.perform(gone.map((tab) => ({ verb: 'leave', collection, tab, keeps: false })))
  }

  #mustJoin(operation: Operation): boolean {
    if (operation.verb !== 'watch' && operation.verb !== 'follow') return false
    return this.#lookout(operation.collection).needsToJoin(operation.verb === 'follow')
  }

  #lookout(collection: string): Lookout {
    let lookout = this.#lookouts.get(collection)
    if (!lookout) {
      lookout = new Lookout(collection, { ...this.#tools, tab: this.#presence.tab })
      this.#lookouts.set(collection, lookout)
    }
    return lookout
  }
}

type Listening = Extract<Operation, { verb: 'watch' | 'unwatch' | 'follow' | 'unfollow' }>

function isListening(operation: Operation): operation is Listening {
  return ['watch', 'unwatch', 'follow', 'unfollow'].includes(operation.verb)
}
