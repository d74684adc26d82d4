import { serveApi } from './support/api.js'
import { newTab, test } from './support/lab.js'
import { Answers, LANES, openLanes, writeForever } from './support/lanes.js'
import { startChromium, withProfile } from './support/own-chromium.js'
import { isTorn } from './support/torn.js'

/** `KILLS=200 npx playwright test durability` kills more often. */
const KILLS = Number(process.env['KILLS'] ?? 20)

test('a resolved write is committed, and stays after the browser is killed', async () => {
  test.setTimeout(30_000 + KILLS * 20_000)
  await using server = await serveApi()
  const answers = new Answers(server)
  let kills = 0
  while (kills < KILLS) {
    answers.forget()
    await withProfile(async (profile) => {
      // A profile with a torn log is opened once more, to see that everything is there, and then given up.
      for (let isLast = false, isFirst = true; ; isFirst = false) {
        const { context, kill } = await startChromium(profile)
        try {
          const tab = await newTab(context, server)
          await openLanes(tab, kills % 2 === 0 ? 'relaxed' : 'strict')
          if (!isFirst) await answers.check(tab, kills - 1)
          if (isLast) return
          // It is killed after a number of answers that is another in every round.
          const enough = answers.more(LANES + Math.floor(((kills * 0.618) % 1) * 200))
          await writeForever(tab, kills)
          await enough
        } finally {
          await kill()
        }
        kills++
        isLast = kills === KILLS || (await isTorn(profile))
      }
    })
  }
})

test('a resolved write is committed, and stays after the tab crashes or is closed', async ({ context }) => {
  await using server = await serveApi()
  const answers = new Answers(server)
  const witness = await newTab(context, server)
  await openLanes(witness, 'relaxed')
  for (let round = 0; round < KILLS; round++) {
    const tab = await newTab(context, server)
    await openLanes(tab, 'relaxed')
    const enough = answers.more(LANES + Math.floor(((round * 0.618) % 1) * 100))
    await writeForever(tab, round)
    await enough
    if (round % 3 > 0) {
      const session = await context.newCDPSession(tab)
      const crashed = new Promise((resolve) => tab.once('crash', resolve))
      session.send('Page.crash').catch(() => undefined)
      await crashed
    }
    await tab.close()
    await answers.check(witness, round)
  }
})
