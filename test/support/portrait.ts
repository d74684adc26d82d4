/** Firefox gives the clone of an error a stack of its own: where the error was made, whatever it says since. */
export const keepsStack =
  structuredClone(Object.defineProperty(new Error(), 'stack', { value: 'given' })).stack === 'given'

/**
 * Everything that a structured clone keeps of a value, as a list of texts, an object a line: two values are the same
 * when their portraits are. What is in it twice is there once; a field called `__proto__` is a field.
 */
export function portrait(root: unknown): string[] {
  const numbers = new Map<object, number>()
  const objects: object[] = []
  const name = (value: unknown): string => {
    if (typeof value === 'bigint') return `${value}n`
    if (Object.is(value, -0)) return '-0'
    if (typeof value === 'string') return JSON.stringify(value)
    if (typeof value !== 'object' || value === null) return String(value)
    if (!numbers.has(value)) {
      numbers.set(value, objects.length)
      objects.push(value)
    }
    return `#${numbers.get(value)}`
  }
  const lines = [name(root)]
  // It grows while it is gone through.
  for (const value of objects) lines.push(draw(value, name))
  return lines
}

function draw(value: object, name: (value: unknown) => string): string {
  const brand = Object.prototype.toString.call(value).slice(8, -1)
  const fields = (of: object) => Object.entries(of).map(([field, one]) => `${JSON.stringify(field)}=${name(one)}`)
  if (value instanceof Map) return [brand, ...[...value].flat().map(name)].join(' ')
  if (value instanceof Set) return [brand, ...[...value].map(name)].join(' ')
  if (value instanceof ArrayBuffer) return `${brand} ${new Uint8Array(value).join()}`
  if (ArrayBuffer.isView(value)) return `${brand} ${value.byteOffset} ${value.byteLength} ${name(value.buffer)}`
  if (value instanceof Error) {
    const cause = Object.hasOwn(value, 'cause') ? name(value.cause) : 'none'
    const stack = keepsStack ? JSON.stringify(value.stack) : typeof value.stack
    return `${brand} ${value.name} ${JSON.stringify(value.message)} ${stack} ${cause}`
  }
  switch (brand) {
    case 'Date':
      return `${brand} ${(value as Date).getTime()}`
    case 'RegExp':
      return `${brand} ${(value as RegExp).source} ${(value as RegExp).flags}`
    case 'Number':
    case 'String':
    case 'Boolean':
    case 'BigInt':
      return `${brand} ${name(value.valueOf())}`
    case 'Array':
      return [brand, (value as unknown[]).length, ...fields(value)].join(' ')
    default:
      return [brand, ...fields(value)].join(' ')
  }
}
