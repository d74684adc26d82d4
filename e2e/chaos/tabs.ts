import type { BrowserContext, Page } from '@playwright/test'
import type { Seen } from './history.js'

export interface State {
  all: Record<string, Seen>
  live: Record<string, string>
  /** The collections whose live query found no room to note that it listens. */
  waiting: string[]
  feed: Record<string, string | null>
  readyAt: number
}

interface Window {
  chaos: {
    tab: number
    stage: string
    parked: number
    inFlight: number
    /** What has not settled yet. */
    calls: Map<string, string>
    errors: string[]
    readyAt?: number
    worker?: Worker
    state(): Promise<State>
    setClock(step: number, offset: number): void
  }
}

/** A tab at random operations, and what can befall it. */
export class Tab {
  readonly page: Page
  isAsleep = false
  isCached = false
  /** What has befallen it, and when. */
  readonly fates: string[] = []

  private constructor(page: Page) {
    this.page = page
  }

  static async open(context: BrowserContext, url: string): Promise<Tab> {
    const tab = new Tab(await context.newPage())
    await tab.page.goto(`${url}/chaos.html`)
    return tab
  }

  async setFrozen(isFrozen: boolean): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page)
    await session.send('Page.setWebLifecycleState', { state: isFrozen ? 'frozen' : 'active' })
    await session.detach()
    this.isAsleep = isFrozen
  }

  async leave(): Promise<void> {
    await this.page.goto(new URL('other.html', this.page.url()).href)
    this.isAsleep = this.isCached = true
  }

  async wake(): Promise<void> {
    if (this.isCached) await this.page.goBack({ waitUntil: 'commit' })
    else await this.setFrozen(false)
    this.isAsleep = this.isCached = false
  }

  async crash(): Promise<void> {
    const session = await this.page.context().newCDPSession(this.page)
    const crashed = new Promise((resolve) => this.page.once('crash', resolve))
    session.send('Page.crash').catch(() => undefined)
    await crashed
    await this.page.close()
  }

  async terminate(): Promise<void> {
    await this.page.evaluate(() => (window as unknown as Window).chaos?.worker?.terminate())
  }

  /** Resolves when it does nothing any more: every call has settled. Promises of time are made to a tab that is awake. */
  async parked(lanes: number): Promise<void> {
    await this.page.bringToFront()
    await this.page.waitForFunction(
      (lanes) => {
        const { chaos } = window as unknown as Window
        return chaos?.parked === lanes && chaos.inFlight === 0
      },
      lanes,
      { timeout: 60_000, polling: 50 },
    )
  }

  /** What it is at, in short. */
  describe(): Promise<string> {
    return this.page.evaluate(() => {
      const { chaos } = window as unknown as Window
      if (!chaos) return `loading, ${document.visibilityState}`
      const { tab, stage, parked, inFlight, calls, errors } = chaos
      return JSON.stringify({ tab, stage, parked, inFlight, calls: [...calls], errors, is: document.visibilityState })
    })
  }

  state(step: number, offset: number): Promise<State & { tab: number; errors: string[] }> {
    return this.page.evaluate(
      async ([step, offset]) => {
        const { chaos } = window as unknown as Window
        chaos.setClock(step, offset)
        return { ...(await chaos.state()), tab: chaos.tab, errors: chaos.errors }
      },
      [step, offset] as const,
    )
  }
}
