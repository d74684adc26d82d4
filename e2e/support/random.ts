/** The same numbers, from 0 to below 1, for the same seed. */
export function* numbers(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}
