import { serveApi } from './support/api.js'
import { newTab, test } from './support/lab.js'
import { Answers, LANES, openLanes, writeForever } from './support/lanes.js'
import { startChromium, withProfile } from './support/own-chromium.js'

/** `KILLS=200 npx playwright test durability` kills more often. */
const KILLS = Number(process.env['KILLS'] ?? 20)

test('a resolved write is committed, and stays after the browser is killed', async () => {
  test.setTimeout(30_000 + KILLS * 20_000)
  await using server = await serveApi()
  const answers = new Answers(server)
  await withProfile(async (profile) => {
    for (let round = 0; round <= KILLS; round++) {
      const { context, kill } = await startChromium(profile)
      try {
        const tab = await newTab(context, server)
        await openLanes(tab, round % 2 === 0 ? 'relaxed' : 'strict')
        await answers.check(tab, round - 1)
        if (round === KILLS) break
        // It is killed after a number of answers that is another in every round.
        const enough = answers.more(LANES + Math.floor(((round * 0.618) % 1) * 200))
        await writeForever(tab, round)
        await enough
      } finally {
        await kill()
      }
    }
  })
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
