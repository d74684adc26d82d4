/** The value at a path such as `address.city`, through own fields of plain objects only. */
export function at(doc: object, path: string): unknown {
  let value: unknown = doc
  for (const field of path.split('.')) {
    if (!isPlain(value) || !Object.hasOwn(value, field)) return undefined
    value = value[field]
  }
  return value
}

export function isPlain(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}
