/** Something that changes, and tells of it. */
export interface Value<T> {
  get(): T
  set(next: T): void
  /** Calls back now and at every change. Returns its undo. */
  watch(listener: (value: T) => void): () => void
}

export function value<T>(first: T): Value<T> {
  const listeners = new Set<(value: T) => void>()
  let current = first
  return {
    get: () => current,
    set(next) {
      if (Object.is(next, current)) return
      current = next
      for (const listener of listeners) listener(next)
    },
    watch(listener) {
      listeners.add(listener)
      listener(current)
      return () => listeners.delete(listener)
    },
  }
}
