/** The value at a path such as `address.city`, through own fields of plain objects only. */
export function at(doc: object, path: string): unknown {
  return reader(path)(doc)
}

/** Reads what is at a path, of one document after the other. */
export function reader(path: string): (doc: object) => unknown {
  const fields = path.split('.')
  return (doc) => {
    let value: unknown = doc
    for (const field of fields) {
      if ((value !== doc && !isPlain(value)) || !Object.hasOwn(value as object, field)) return undefined
      value = (value as Record<string, unknown>)[field]
    }
    return value
  }
}

export function isPlain(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}
