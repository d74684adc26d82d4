import type { Answer, Link, Listen, Operation, Reply, StoreShape, Tidied } from '../protocol.js'
import { Alone } from './alone.js'
import { Audience } from './audience.js'
import { Clock } from './clock.js'
import type { Clocks } from './clock.js'
import { close, closed } from './closing.js'
import { Connection } from './connection.js'
import type { Hearing } from './connection.js'
import type { Ahead } from './find.js'
import { deleteDatabase, openDatabase } from './database.js'
import { generationOf } from './generation.js'
import { Grapevine } from './grapevine.js'
import type { Hint } from './grapevine.js'
import { Migrations } from './migrations.js'
import { Pace } from './pace.js'
import { Performer, refusal } from './performer.js'
import { persistently } from './persistence.js'
import { Presence } from './presence.js'
import { wasFollowed } from './life.js'
import type { Session } from './session.js'
import type { Shelf } from './shelf.js'
import { applyDeclared } from './settings.js'
import { Sweeper } from './sweeper.js'
import { isChased } from './versions.js'

/** When another tab is deleting, this one looks again after this many milliseconds. */
const ANOTHER_IS_AT_IT = 500

/** A tab of an earlier version lets so many milliseconds pass between writes while a later one migrates them. */
const GIVING_WAY = 50

const SYSTEM: Clocks = { wall: () => Date.now(), steady: () => performance.now() }

const DONE: Reply = { ok: true, value: undefined }

type Shelves = Pick<Session, 'shelves'>

interface Batch {
  operations: Operation[]
  ahead: Ahead | undefined
  resolve: (replies: Reply[]) => void
}

/** Runs operations in order: whatever arrives while a transaction is running goes together into the next. */
export class Engine implements Link {
  readonly #shape: StoreShape
  readonly #listen: Listen
  /** The collections that can have a time to live. */
  readonly #expiring: string[]
  readonly #clock: Clock
  readonly #connection: Connection
  readonly #migrations: Migrations
  readonly #performer: Performer
  readonly #pace: Pace
  readonly #sweeper: Sweeper
  readonly #grapevine: Grapevine
  readonly #alone: Alone
  readonly #presence: Presence
  readonly #audience: Audience
  readonly #waiting: Batch[] = []
  #working: Promise<void> | undefined
  #tidying: Promise<void> | undefined
  /** How many deletions that were asked for are under way. */
  #sweeps = 0
  #declared = false
  /** There was a write that a tab of a later version has to migrate before it can go on. */
  #givesWay = false

  constructor(shape: StoreShape, listen: Listen, clocks = SYSTEM) {
    this.#shape = shape
    this.#listen = listen
    this.#clock = new Clock(clocks)
    this.#pace = new Pace(clocks.steady)
    this.#connection = new Connection(shape, (hearing) => this.#open(hearing))
    const observer = {
      committing: (session: Shelves) => this.#hint(session),
      committed: (session: Shelves) => this.#announce(session),
    }
    this.#migrations = new Migrations(shape.name, { clock: this.#clock, send: listen, observer })
    this.#performer = new Performer(shape, this.#clock, this.#connection, this.#migrations, observer)
    this.#grapevine = new Grapevine(shape.name, (hint) => this.#hear(hint))
    this.#presence = new Presence(shape.name)
    this.#audience = new Audience(this.#presence, {
      clock: this.#clock,
      steady: clocks.steady,
      perform: (operations) => this.#performer.perform(operations),
      send: listen,
    })
    this.#alone = new Alone(`mayfly-sweep:${shape.name}`)
    this.#expiring = shape.collections.filter(({ indexing }) => indexing !== 'none').map(({ name }) => name)
    this.#sweeper = new Sweeper(this.#expiring, {
      clocks,
      listen,
      clock: this.#clock,
      pace: this.#pace,
      perform: (operation) => this.#performer.one(operation),
    })
  }

  open(): Promise<Reply> {
    return this.#connection.get().then((): Reply => ({ ok: true, value: 'disk' }), refusal)
  }

  /** What an operation that comes alone finds may be given ahead of its reply. */
  run(operations: Operation[], ahead?: Ahead): Promise<Reply[]> {
    this.#pace.asked()
    return new Promise((resolve) => {
      this.#waiting.push({ operations, ahead, resolve })
      this.#working ??= this.#work()
    })
  }

  async tidy(budget: number): Promise<Tidied> {
    if (!this.#sweeper.isDue) return this.#sweeper.report(0)
    // Two in one collection would go over each other's remains.
    if (this.#sweeps > 0) return this.#sweeper.report(0, ANOTHER_IS_AT_IT)
    const tidying = this.#alone.run(() => this.#sweeper.tidy(budget))
    this.#tidying = this.#after(tidying)
    return (await tidying) ?? this.#sweeper.report(0, ANOTHER_IS_AT_IT)
  }

  sweep(): Promise<Reply> {
    this.#sweeps++
    const sweeping = this.#sweeper
      .sweep()
      .then((value): Reply => ({ ok: true, value }), refusal)
      .finally(() => this.#sweeps--)
    this.#tidying = this.#after(sweeping)
    return sweeping
  }

  answer(call: string, answer: Answer): void {
    this.#migrations.answer(call, answer)
  }

  /** What others do while this tab sleeps will not be heard, so everything has to be looked at afterwards. */
  rest(): void {
    this.#sweeper.forget()
    void this.close()
  }

  /** Lets what was asked finish first. */
  async close(): Promise<void> {
    await this.#finish()
    const leaving = this.#audience.stop()
    if (this.#connection.isOpen) {
      await this.#performer.perform(leaving)
      await this.#witness()
    }
    await this.#letGo()
  }

  async #finish(): Promise<void> {
    await this.#working
    await this.#tidying
  }

  async #letGo(): Promise<void> {
    // What was asked meanwhile needs the connection, or has opened another.
    if (this.#working || this.#audience.isAttended) return
    const closed = this.#connection.close()
    this.#grapevine.close()
    this.#presence.hide()
    await closed
  }

  async #after(work: Promise<unknown>): Promise<void> {
    await this.#tidying
    await work
  }

  /** This takes note of what has expired, so that a clock that steps back before the next start does not undo it. */
  async #witness(): Promise<void> {
    await this.#performer.perform(this.#expiring.map((collection) => ({ verb: 'witness', collection })))
  }

  async destroy(): Promise<Reply> {
    await this.#finish()
    this.#audience.stop()
    await this.#letGo()
    return deleteDatabase(this.#shape).then(() => DONE, refusal)
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      // While the database is being opened, more operations may join the batch.
      const failure = await this.#connection.get().then(() => undefined, refusal)
      if (this.#givesWay) await new Promise((resolve) => setTimeout(resolve, GIVING_WAY))
      this.#givesWay = false
      const batches = this.#waiting.splice(0)
      const asked = batches.flatMap((batch) => batch.operations)
      const ahead = asked.length === 1 ? batches[0]!.ahead : undefined
      // Whatever goes wrong, those who come later must not wait for ever.
      const replies = failure
        ? asked.map(() => failure)
        : await this.#perform(asked, ahead).catch((error: unknown) => asked.map(() => refusal(error)))
      let at = 0
      for (const { operations, resolve } of batches) {
        resolve(replies.slice(at, (at += operations.length)))
        this.#pace.answered()
      }
    }
    this.#working = undefined
  }

  async #perform(asked: Operation[], ahead?: Ahead): Promise<Reply[]> {
    const operations = await this.#audience.introduce(asked)
    return this.#audience.attend(operations, await this.#performer.perform(operations, ahead))
  }

  #hear(hint: Hint): void {
    if ('at' in hint) this.#sweeper.note(hint.collection, hint.at)
    else this.#audience.hear(hint.collection, hint.entry)
  }

  /**
   * The other tabs hear of it before the commit: this tab may be gone right after. Whoever looks at once waits for the
   * transaction to end, and finds nothing where it was undone.
   */
  #hint({ shelves }: Shelves): void {
    for (const { shape, due, entry } of shelves) {
      if (entry) this.#grapevine.tellEntry(shape.name, entry.number)
      if (due < Infinity) this.#grapevine.tellExpiry(shape.name, due, this.#clock.now())
    }
  }

  /** What was committed may expire earlier than anything that was known. */
  #announce({ shelves }: Shelves): void {
    this.#sweeper.remind()
    this.#audience.remind()
    for (const { shape, setting, due, now, writable, hasMetDead } of shelves) {
      this.#givesWay ||= writable && isChased(setting, shape.version, now)
      if (hasMetDead) this.#sweeper.meet(shape.name)
      if (due < Infinity) this.#sweeper.note(shape.name, due)
    }
    this.#audience.committed(shelves)
  }

  /** Another tab that changes the database may take the connection away before it was of any use: then, again. */
  async #open(hearing: Omit<Hearing, 'severed'>): Promise<IDBDatabase> {
    this.#grapevine.open()
    this.#presence.show()
    for (;;) {
      const state = { gone: false, inUse: false }
      const gone = () => {
        state.gone = true
        if (!state.inUse) return
        hearing.gone()
        this.#audience.doubt()
      }
      let database: IDBDatabase | undefined
      try {
        const severed = () => state.inUse && this.#listen({ isLost: true })
        const attempt = () => openDatabase(this.#shape, { ...hearing, gone, severed })
        database = await persistently(attempt, hearing.isWanted)
        const [generation] = await Promise.all([generationOf(database), this.#declare(database, hearing)])
        state.inUse = true
        if (state.gone && hearing.isWanted()) continue
        this.#listen({ generation })
        this.#listen({ due: 0 })
        return database
      } catch (error) {
        if (database && !(await closed(database))) await close(database)
        if (!state.gone || !hearing.isWanted()) throw error
      }
    }
  }

  /** Once: a tab that merely reconnects must not undo what another has set meanwhile. */
  async #declare(database: IDBDatabase, hearing: Omit<Hearing, 'severed'>): Promise<void> {
    if (this.#declared) return
    const see = (shelf: Shelf) => {
      this.#audience.opened(shelf)
      if (wasFollowed(shelf.setting)) this.#sweeper.spare(shelf.shape.name)
    }
    const applied = await applyDeclared(database, this.#shape.collections, this.#clock, see)
    for (const { shape, entry } of applied) if (entry) this.#grapevine.tellEntry(shape.name, entry.number)
    await this.#migrations.open(this.#shape.collections, database, hearing)
    this.#declared = true
  }
}
