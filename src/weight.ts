/** About how many bytes may cross in one message: making it and taking it in must not hold up the page. */
export const MESSAGE = 300_000

/** How many elements of an array are looked at: it may be said to be billions long. */
const SAMPLE = 5000

/** About how many bytes a value takes. What lies deep, or is not plain, is guessed. */
export function weight(value: unknown, depth = 6, seen = new Set<unknown>()): number {
  if (typeof value === 'string') return value.length + 8
  // What is in there again and again crosses once.
  if (typeof value !== 'object' || value === null || depth === 0 || seen.has(value)) return 8
  seen.add(value)
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength
  if (value instanceof Map || value instanceof Set) return 64 * value.size
  let sum = 16
  if (Array.isArray(value)) {
    const some = value.slice(0, SAMPLE)
    for (const inner of some) sum += weight(inner, depth - 1, seen)
    return sum * Math.max(1, value.length / SAMPLE)
  }
  for (const field in value) sum += field.length + weight((value as Record<string, unknown>)[field], depth - 1, seen)
  return sum
}
