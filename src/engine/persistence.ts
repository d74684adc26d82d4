/** The browser may be unable to open a database for a moment. So many milliseconds later it is tried again. */
const PAUSES = [50, 100, 200, 400, 800, 1600]

/** What a browser says whose reason will not last, as Chromium does with “Internal error opening backing store”. */
const PASSING = new Set(['UnknownError', 'AbortError', 'TimeoutError'])

/** Tries again, with growing pauses, for as long as somebody wants it. */
export async function persistently<T>(attempt: () => Promise<T>, isWanted: () => boolean): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await attempt()
    } catch (error) {
      if (!PASSING.has((error as Error).name) || !isWanted()) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  return attempt()
}
