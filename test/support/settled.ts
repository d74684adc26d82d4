/** How long something may take that needs no more than a few milliseconds on a machine that is not shared. */
const DEADLINE = 20_000

/** Resolves when a check passes. Not `vi.waitFor`, which moves the clock with every look. */
export async function settled(check: () => void): Promise<void> {
  const end = performance.now() + DEADLINE
  for (;;) {
    try {
      return check()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
