import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { World } from '../support/beset.js'
import type { Asked, Models, Names, Tab } from '../support/beset.js'
import { Dice, installBrowser, Process } from '../support/browser.js'
import { readDisk } from '../support/contents.js'
import type { Note } from '../support/model.js'

const QUESTIONS = [
  {},
  { orderBy: 'n', limit: 2 },
  { orderBy: 'n', order: 'desc', limit: 1 },
  { where: { code: { exists: true } } },
  { where: { n: { gte: 2 } }, orderBy: 'n' },
]
const NAMES = ['notes', 'logs'] as const
const IDS = ['a', 'b', 'c', 'd', 'e']

/** A tab of a browser in which nothing is certain. */
interface Open {
  tab: Tab
  process: Process
}

/** Tabs that come, freeze and crash, with notices that are lost and a clock that moves. */
class Browser {
  readonly world = new World({ nth: Infinity, way: 0 })
  readonly #dice: Dice
  #open: Open[] = []
  readonly #all: Open[] = []
  #crashes = 0

  constructor(seed: number) {
    this.#dice = new Dice(seed)
  }

  async play(steps: number): Promise<void> {
    const first = await this.#begin()
    await this.#begin()
    for (const name of NAMES) this.#follow(first, name)
    await this.#look()
    for (let step = 0; step < steps; step++) await this.#step()
    await this.#isRight()
    await this.#isEmptied()
  }

  async end(): Promise<void> {
    for (const { process } of this.#all) if (process.state === 'frozen') process.thaw()
    for (const { tab, process } of this.#all) {
      tab.stop()
      // Of one that has crashed no answer comes.
      if (process.state !== 'dead') await process.run(() => tab.store.close())
    }
  }

  get #running(): Open[] {
    return this.#open.filter(({ process }) => process.state === 'runs')
  }

  async #begin(): Promise<Open> {
    const process = new Process(this.#dice)
    const tab = process.run(() => this.world.open({ sweep: 'idle', patience: 60 }))
    const open = { tab, process }
    this.#open.push(open)
    this.#all.push(open)
    await process.run(() => tab.store.ready)
    await this.#look()
    return open
  }

  #follow({ tab, process }: Open, name: Names): void {
    // One that is frozen may not have told yet what has expired.
    const isFirst = !this.#running.some((other) => other.tab.isFollowing(name))
    process.run(() => tab.follow(name, this.world.told[name].length, isFirst))
  }

  async #step(): Promise<void> {
    const { world } = this
    const dice = this.#dice
    const one = dice.of(this.#running)
    const kind = dice.below(40)
    if (kind < 22) {
      const calls = Array.from({ length: 1 + dice.below(4) }, () => this.#call(one))
      await world.expect(...calls)
    } else if (kind < 26) await this.#move()
    else if (kind === 26) one.process.run(() => one.tab.watch(dice.of(NAMES), dice.of(QUESTIONS)))
    else if (kind === 27) await this.#beginToFollow(one)
    else if (kind === 28) await world.expect(this.#calls(one, async () => (await one.tab.store.sweep()).deleted >= 0))
    else if (kind < 31) {
      if (this.#open.length < 4) await this.#begin()
    } else if (kind < 33) {
      if (this.#running.length > 1) one.process.freeze()
    } else if (kind < 35) {
      for (const { process } of this.#open) if (process.state === 'frozen') process.thaw()
      await this.#look()
    } else if (kind < 37) {
      if (this.#running.length > 1) await this.#crash(one)
    } else if (kind === 37) {
      if (this.#running.length > 1) await this.#close(one)
    } else await this.#isRight()
  }

  async #beginToFollow(one: Open): Promise<void> {
    // What has happened before, this listener must not hear of; so everything is told first.
    await this.#isRight()
    const name = this.#dice.of(NAMES)
    if (one.tab.isFollowing(name)) return
    this.#follow(one, name)
    await this.#look()
  }

  #calls({ process }: Open, tell: () => Promise<unknown>): Asked {
    return { tell: () => process.run(tell), ask: () => true }
  }

  #call({ tab, process }: Open): Asked {
    const dice = this.#dice
    const name = dice.of(NAMES)
    const id = dice.of(IDS)
    const ttl = dice.of([undefined, undefined, -1, 1, 5, 60])
    const code = name === 'notes' && dice.below(3) === 0 ? dice.of(['x', 'y']) : undefined
    const note: Note = {
      id,
      n: dice.below(5),
      ...(ttl === undefined ? {} : { ttl }),
      ...(code === undefined ? {} : { code }),
    }
    const things = tab.store[name]
    const asked = (tell: () => Promise<unknown>, ask: (models: Models) => unknown): Asked => {
      return { tell: () => process.run(tell), ask }
    }
    switch (dice.below(9)) {
      case 0:
        return asked(
          () => things.create(note as never),
          (models) => models[name].create(note),
        )
      case 1:
        return asked(
          () => things.patch(id, { n: 7 }),
          (models) => models[name].patch(id, { n: 7 }),
        )
      case 2:
        return asked(
          () => things.delete(id),
          (models) => models[name].delete(id),
        )
      case 3:
        return asked(
          () => things.get(id),
          (models) => models[name].get(id),
        )
      case 4:
        return asked(
          () => things.query().get(),
          (models) => models[name].all(),
        )
      case 5:
        return asked(
          () => things.query().count(),
          (models) => models[name].entries.size,
        )
      default:
        return asked(
          () => things.upsert(note as never),
          (models) => models[name].upsert(note),
        )
    }
  }

  /** Time that passes, a small step of the system's clock, or a leap of it. */
  async #move(): Promise<void> {
    const { world } = this
    const kind = this.#dice.below(8)
    if (kind < 5) world.pass(this.#dice.of([1, 999, 1000, 4999, 5000, 70_000]))
    else if (kind < 7) world.move(-Math.min(world.leeway, this.#dice.of([1, 1000, 60_000])))
    else world.move(this.#dice.of([400_000, 3_600_000]))
    await this.#look()
  }

  async #look(): Promise<void> {
    for (const { tab, process } of this.#running) {
      for (const name of NAMES) {
        await this.world.expect({
          tell: () => process.run(async () => (await tab.store[name].stats()).live),
          ask: (models) => models[name].entries.size,
        })
      }
    }
  }

  async #close(one: Open): Promise<void> {
    this.#forget(one)
    one.tab.stop()
    await one.process.run(() => one.tab.store.close())
  }

  /** Of what it was writing nobody knows whether it was committed; half of it never is. */
  async #crash(one: Open): Promise<void> {
    const note: Note = { id: this.#dice.of(IDS), n: 50 + this.#crashes++, ttl: -1 }
    const writing = one.process.run(() => one.tab.store.notes.upsert(note as never)).catch(() => undefined)
    for (let wait = this.#dice.below(12); wait > 0; wait--) await new Promise((resolve) => setImmediate(resolve))
    one.process.crash()
    this.#forget(one)
    one.tab.stop()
    const { notes } = this.#running[0]!.tab.store
    const found = await this.#running[0]!.process.run(() => notes.get(note.id))
    if (found && found.n === note.n) this.world.found('notes', found as Note & { _etag: string }, note)
    await this.#look()
    void writing
    void one.process.run(() => one.tab.store.close())
  }

  #forget(one: Open): void {
    this.#open = this.#open.filter((other) => other !== one)
  }

  async #isRight(): Promise<void> {
    await this.#look()
    for (const { tab, process } of this.#running) await process.run(() => tab.isRight(this.world.told))
  }

  /** Whoever is left deletes what has expired, though others hold the lock and sleep, and forgets those that are gone. */
  async #isEmptied(): Promise<void> {
    const { world } = this
    // After a leap nothing is deleted for a while.
    world.pass(240_000)
    await this.#look()
    const isDone = async () => {
      const disk = await readDisk(world.name)
      return NAMES.every((name) => disk[name]!.records.length === world.models[name].entries.size)
    }
    const end = performance.now() + 30_000
    while (!(await isDone())) {
      if (performance.now() > end) throw new Error('What has expired was not deleted.')
      // Whoever looked before the time passed has a timer that did not.
      world.pass(1100)
      await this.#look()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const seed = inject('seed')
const count = Math.ceil(inject('runs') / 12)
const AT_ONCE = 8

let uninstall: () => void
beforeAll(() => {
  console.log(`tabs: seed ${seed}, ${count} browsers (SEED=${seed} repeats them)`)
  uninstall = installBrowser()
})
afterAll(() => uninstall())

test(
  'tabs that freeze and crash, lost notices, late locks, clocks that leap: every answer is right, and all that has expired is deleted',
  {
    timeout: 600_000,
  },
  async () => {
    let next = 0
    const failures: unknown[] = []
    const player = async () => {
      while (next < count && failures.length === 0) {
        const own = seed + next++
        const browser = new Browser(own)
        try {
          await browser.play(40)
        } catch (error) {
          failures.push(new Error(`SEED=${own} RUNS=1`, { cause: error }))
        } finally {
          await browser.end()
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, player))
    if (failures.length > 0) throw failures[0] as Error
    expect(next).toBe(count)
  },
)
