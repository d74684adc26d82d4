/** What a listener throws is its own affair, and is reported as an uncaught error: it must not silence the others. */
export function call<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value)
  } catch (error) {
    report(error)
  }
}

export function report(error: unknown): void {
  if (typeof reportError === 'function') reportError(error)
  else console.error(error)
}
