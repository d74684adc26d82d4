/** How often it is looked, in milliseconds. */
const PAUSE = 1000

/** A look that comes so much too late shows that the page itself was asleep, frozen, throttled or busy. */
const LATE = 1000

/**
 * Counts the seconds in which the page was awake, and tells of each. One that slept has not waited: it starts anew,
 * for what it heard nothing of may have slept too. Returns its own undo.
 */
export function vigil(look: (seconds: number) => void): () => void {
  let seconds = 0
  let expected = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = () => {
    expected = performance.now() + PAUSE
    timer = setTimeout(() => {
      seconds = performance.now() - expected > LATE ? 0 : seconds + 1
      wait()
      look(seconds)
    }, PAUSE)
  }
  wait()
  return () => clearTimeout(timer)
}
