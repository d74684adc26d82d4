import { expect, test } from '@playwright/test'
import type { IncomingMessage } from 'node:http'
import { serveApi } from '../support/api.js'
import { startChromium, withProfile } from '../support/own-chromium.js'
import { numbers } from '../support/random.js'
import { findDisagreements } from '../support/raw.js'
import { AHEAD, check } from './checker.js'
import { History } from './history.js'
import type { Begun, Ended, Seen } from './history.js'
import { Tab } from './tabs.js'
import type { State } from './tabs.js'

const MINUTES = Number(process.env['MINUTES'] ?? 1)
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))
const TABS = 4
/** As many calls as a tab makes at once. */
const LANES = 3
/** It takes Chromium so many milliseconds to notice that there is room, or none. */
const NOTICING = 30_000
/** Between two quiet points, in milliseconds. */
const ROUND = 15_000

const FATES = ['close', 'crash', 'reload', 'terminate', 'freeze', 'leave', 'front', 'clock'] as const

async function bodyOf<T>(request: IncomingMessage): Promise<T> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return JSON.parse(text) as T
}

/** Where a tab's live queries or its feed differ from what it reads. */
function differences({ all, live, waiting, feed, readyAt }: State, history: History, lastShort: number): string[] {
  const found: string[] = []
  for (const key of new Set([...Object.keys(all), ...Object.keys(live)])) {
    const isWaiting = lastShort === Infinity && waiting.includes(key.split('/')[0]!)
    if (!isWaiting && all[key]?.v !== live[key]) found.push(`${key} is ${all[key]?.v}, and live ${live[key]}`)
  }
  // Where there is no room for a note of what was deleted, it is told when there is some, unless its tab is gone by then.
  if (lastShort === Infinity) return found
  const wroteLast = new Map(
    [...history.calls.values()].flatMap(({ targets, begin }) => targets.map(({ v }) => [v, begin])),
  )
  for (const key of new Set([...Object.keys(all), ...Object.keys(feed)])) {
    const v = all[key]?.v ?? null
    const isOlder = !(key in feed) && (wroteLast.get(v ?? undefined) ?? 0) < readyAt
    const isUnnoted = v === null && readyAt < lastShort
    if (isOlder || isUnnoted || feed[key] === v) continue
    found.push(`${key} is ${v}, and the feed said ${feed[key]} (ready at ${readyAt}, room since ${lastShort})`)
  }
  return found
}

test('nothing that is acknowledged is lost, nothing refused is seen, nothing comes back, whatever befalls tabs', async () => {
  test.setTimeout((MINUTES + 5) * 60_000)
  console.log(`Chaos for ${MINUTES} minutes: --seed ${SEED}`)
  const random = numbers(SEED)
  const below = (n: number) => Math.floor(random.next().value * n)
  const history = new History()
  const figures: Record<string, number> = {}
  const count = (what: string, n = 1) => (figures[what] = (figures[what] ?? 0) + n)
  const violations: string[] = []
  let isPaused = false
  let tabsSoFar = 0
  await using server = await serveApi()
  server.on('/tab', (response) => response.end(JSON.stringify({ tab: ++tabsSoFar, seed: SEED })))
  server.on('/ready', (response) => response.end(JSON.stringify({ at: history.at })))
  server.on('/begin', async (response, request) => {
    const begun = await bodyOf<Begun>(request)
    if (!isPaused) history.begin(begun)
    response.end(JSON.stringify({ pause: isPaused, ...history.clock }))
  })
  server.on('/end', async (response, request) => {
    const ended = await bodyOf<Ended>(request)
    history.end(ended)
    count('calls')
    if (ended.outcome !== 'ok') count(`calls answered ${ended.code}`)
    response.end('{}')
  })

  await withProfile(async (profile) => {
    const { context, close } = await startChromium(profile)
    try {
      const tabs: Tab[] = []
      while (tabs.length < TABS) tabs.push(await Tab.open(context, server.url))
      const keeper = await context.newPage()
      await keeper.goto(`${server.url}/other.html`)
      const storage = await context.newCDPSession(keeper)
      let isShort = false
      /** When there may have been hardly any room last, in the order of the history. */
      let lastShort = 0
      let noticedBy = 0
      const noteRoom = () => {
        if (isShort || Date.now() < noticedBy) lastShort = history.at
      }
      /** Hardly any room, or room again. */
      const changeQuota = async () => {
        isShort = !isShort
        noticedBy = Date.now() + NOTICING
        noteRoom()
        const usage = await keeper.evaluate(async () => (await navigator.storage.estimate()).usage ?? 0)
        const { origin } = new URL(server.url)
        await storage.send('Storage.overrideQuotaForOrigin', {
          origin,
          ...(isShort ? { quotaSize: usage + 50_000 } : {}),
        })
        count('quota')
      }

      const befall = async (fate: (typeof FATES)[number]) => {
        if (fate === 'clock') {
          history.stepTo(below(2 * AHEAD) - AHEAD)
          return count(fate)
        }
        const at = below(TABS)
        const tab = tabs[at]!
        tab.fates.push(`${Date.now() % 1e6} ${tab.isAsleep ? 'wake' : fate}`)
        if (tab.isAsleep && fate !== 'close') {
          await tab.wake()
          return count('wake')
        }
        count(fate)
        if (fate === 'close' || fate === 'crash') {
          await (fate === 'crash' ? tab.crash() : tab.page.close())
          tabs[at] = await Tab.open(context, server.url)
        } else if (fate === 'reload') await tab.page.reload()
        else if (fate === 'terminate') await tab.terminate()
        else if (fate === 'leave') await tab.leave()
        else if (fate === 'front') await tab.page.bringToFront()
        else {
          await keeper.bringToFront()
          await tab.setFrozen(true)
        }
      }

      /** Everything stands still: all tabs see the same, by every way, and the history is judged. */
      const pause = async () => {
        isPaused = true
        const since = Date.now()
        for (const tab of tabs) if (tab.isAsleep) await tab.wake()
        for (const tab of tabs) {
          await tab.parked(LANES).catch(async () => {
            violations.push(`A call does not settle: ${await tab.describe()} after ${tab.fates.join(', ')}`)
          })
        }
        if (violations.length > 0) return
        let there: Seen[] = []
        let wrong: string[] = []
        const deadline = Date.now() + (isShort ? 20_000 : 70_000)
        do {
          const { step, offset } = history.clock
          const states = await Promise.all(tabs.map((tab) => tab.state(step, offset)))
          const all = states.map((state) => JSON.stringify(Object.values(state.all).map(({ key, v }) => [key, v])))
          wrong = states.flatMap((state) => [
            ...differences(state, history, isShort ? Infinity : lastShort).map((text) => `tab ${state.tab}: ${text}`),
            ...state.errors,
          ])
          if (new Set(all).size > 1) wrong.push('tabs see different documents')
        } while (wrong.length > 0 && Date.now() < deadline)
        wrong.push(...(await tabs[0]!.page.evaluate(findDisagreements, 'chaos')))
        violations.push(...wrong)
        const { step, offset } = history.clock
        for (const [n, tab] of tabs.entries()) {
          there = await history.look(n, () => tab.state(step, offset).then(({ all }) => all))
        }
        for (const { key, sentence, history: calls } of check(history)) {
          violations.push([`${key}: ${sentence}`, ...calls].join('\n  '))
        }
        history.restart(there)
        count('quiet points')
        count('quiet ms', Date.now() - since)
        isPaused = false
      }

      const end = Date.now() + MINUTES * 60_000
      while (Date.now() < end && violations.length === 0) {
        const until = Date.now() + ROUND
        while (Date.now() < until) {
          await befall(FATES[below(FATES.length)]!)
          noteRoom()
          const next = Date.now() + below(600)
          await expect.poll(() => Date.now() >= next, { intervals: [20] }).toBe(true)
        }
        await pause()
        if (below(2) === 0) await changeQuota()
      }
    } finally {
      await close()
    }
  })
  console.log({ seed: SEED, ...figures, violations: violations.length })
  expect(violations.slice(0, 5).join('\n\n'), `seed ${SEED}`).toBe('')
})
