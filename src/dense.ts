/** Whether an array has no holes. One may be said to be billions long and hold nothing: it must not be gone through. */
export function isDense(list: unknown[]): boolean {
  const keys = Object.keys(list)
  // Whole numbers come first among the keys, in their order.
  return list.length === 0 || keys[list.length - 1] === String(list.length - 1)
}

/** Whether an array has too many holes to go through them. */
export function isEndless(list: unknown[]): boolean {
  return list.length > 100_000 && !isDense(list)
}

/** What is in an array, without its holes. */
export function elements(list: unknown[]): unknown[] {
  if (isDense(list)) return list
  return Object.entries(list).flatMap(([key, one]) => (String(Number(key) >>> 0) === key ? [one] : []))
}
